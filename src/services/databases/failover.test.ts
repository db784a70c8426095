import { readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clients, type EngineClient } from '../../../test/databases/clients.ts'
import { eventually } from '../../../test/databases/eventually.ts'
import { type World, world } from '../../../test/world.ts'
import { type Cluster, type Connection, clusters } from './clusters/contract.ts'

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

test.each(['pg', 'mysql', 'valkey'] as const)(
  '%s: when the primary is lost for good, a replica takes its place at the same address',
  { timeout: 60_000 },
  async (engine) => {
    const body = { name: `ha-${engine}`, engine, region: 'nyc3', size: 'db-s-1vcpu-1gb' }
    const { database } = await cove.api(clusters.create, { body: { ...body, num_nodes: 2 } })
    const { id } = database
    await cove.settle()
    const cluster = (await cove.tool('db-cluster-get', { id })).database as Cluster
    const { ca } = await cove.api(clusters.ca, { path: { id } })
    const pem = Buffer.from(ca.certificate, 'base64').toString()
    const connect = () =>
      (clients[engine] as EngineClient).connect(cluster.connection as Connection, pem)
    const session = await connect()
    await session.put('kept', 'yes')
    await session.close()
    const standby = cluster.standby_connection as Connection
    await eventually(async () => {
      const replica = await (clients[engine] as EngineClient).connect(standby, pem)
      expect(await replica.get('kept')).toBe('yes')
      await replica.close()
    })

    const lost = join(cove.home, 'databases', id, 'node-0')
    const { pid } = JSON.parse(readFileSync(join(lost, 'process.json'), 'utf8'))
    renameSync(join(lost, 'data'), join(lost, 'gone'))
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const heir = await connect()
      expect(await heir.get('kept')).toBe('yes')
      await heir.put('after', 'take-over')
      await heir.close()
    }, 40_000)
    await eventually(async () => {
      const replica = await (clients[engine] as EngineClient).connect(standby, pem)
      expect(await replica.get('after')).toBe('take-over')
      await replica.close()
    }, 30_000)
  },
)
