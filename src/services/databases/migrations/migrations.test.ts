import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clients, type EngineClient } from '../../../../test/databases/clients.ts'
import { eventually } from '../../../../test/databases/eventually.ts'
import { type World, world } from '../../../../test/world.ts'
import { type Cluster, type Connection, clusters } from '../clusters/contract.ts'

let cove: World
beforeAll(async () => {
  const templates = join(tmpdir(), `cove-test-templates-${process.getuid?.()}`)
  cove = await world({ databases: { templates } })
})
afterAll(async () => {
  for (const { id } of (await cove.api(clusters.list, {})).databases)
    await cove.api(clusters.delete, { path: { id } })
  await cove.settle()
  await cove.close()
})

const create = async (name: string, engine: 'pg' | 'mysql' | 'valkey') => {
  const body = { name, engine, region: 'nyc3', size: 'db-s-1vcpu-1gb', num_nodes: 1 }
  const { database } = await cove.api(clusters.create, { body })
  await cove.settle()
  const made = (await cove.tool('db-cluster-get', { id: database.id })).database as Cluster
  return { id: database.id, connection: made.connection as Connection }
}

test.each(['pg', 'mysql', 'valkey'] as const)(
  '%s: a live source is followed under writes, with no row lost and none twice',
  { timeout: 60_000 },
  async (engine) => {
    const client = clients[engine] as EngineClient
    const source = await create(`${engine}-source`, engine)
    const target = await create(`${engine}-target`, engine)
    const { ca } = (await cove.tool('db-cluster-get-ca', { id: source.id })) as {
      ca: { certificate: string }
    }
    const pem = Buffer.from(ca.certificate, 'base64').toString()
    const writer = await client.connect(source.connection, pem)
    for (let n = 0; n < 200; n++) await writer.put(`before-${n}`, `value ${n}`)

    const { host, port, user: username, password, database: dbname } = source.connection
    const from = { host, port, username, password, ...(dbname ? { dbname } : {}) }
    const start = (change: object) =>
      cove.refusal('db-cluster-start-online-migration', {
        id: target.id,
        source: { ...from, ...change },
      })
    expect(await start({ password: 'wrong' })).toContain('cannot be migrated from')
    expect(await start({ port: 1 })).toContain('cannot be migrated from')
    expect(await start({ host: target.connection.host })).toContain('another server')

    let writing = true
    let written = 0
    const writes = (async () => {
      while (writing) await writer.put(`during-${written++}`, `value ${written}`)
    })()
    const started = await cove.tool('db-cluster-start-online-migration', {
      id: target.id,
      source: from,
    })
    expect(started.status).toMatch(/^(running|syncing)$/)
    const status = async () =>
      (await cove.tool('db-cluster-get-migration', { id: target.id })).status
    await eventually(async () => {
      const now = await cove.call('db-cluster-get-migration', { id: target.id })
      expect(now.structuredContent?.status, JSON.stringify(now.content)).toBe('syncing')
    }, 40_000)
    expect((await cove.tool('db-cluster-get', { id: target.id })).database).toMatchObject({
      status: 'migrating',
    })
    const seen = written
    await eventually(async () => expect(written).toBeGreaterThan(seen + 20))
    writing = false
    await writes
    if (engine === 'valkey') await new Promise((resolve) => setTimeout(resolve, 300))
    await cove.tool('db-cluster-stop-online-migration', {
      id: target.id,
      migration_id: started.id,
    })
    expect(await status()).toBe('canceled')

    const reader = await client.connect(target.connection, pem)
    expect(await reader.count()).toBe(200 + written)
    expect(await reader.everything()).toBe(await writer.everything())
    await reader.put('after', 'the target is its own again')
    await reader.close()
    await eventually(async () => {
      // A server notices a reader that left when it next has something to send.
      await writer.put('later', String(Date.now()))
      expect(await writer.traces()).toBe(0)
    })
    await writer.close()
  },
)

test('a cluster without a migration says so', async () => {
  const { id } = await create('alone', 'valkey')
  expect(await cove.refusal('db-cluster-get-migration', { id })).toContain('was not found')
  const stop = { id, migration_id: '4b0f8a4e-0000-4000-8000-000000000000' }
  expect(await cove.refusal('db-cluster-stop-online-migration', stop)).toContain('was not found')
})
