import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createApi } from '#client/client.ts'
import { clients, type EngineClient } from '../../../test/databases/clients.ts'
import { eventually } from '../../../test/databases/eventually.ts'
import { processesOf } from '../../../test/databases/leftovers.ts'
import { newHome, type Running, startCove } from '../../../test/process.ts'
import { type Connection, clusters } from './clusters/contract.ts'

const home = newHome()
let cove: Running
afterAll(async () => {
  for (const pid of processesOf(join(home, 'databases'))) process.kill(pid, 'SIGKILL')
  await cove?.stop()
})

const api = () =>
  createApi({ baseUrl: cove.url, token: cove.token, fetch: (request) => fetch(request) })
const online = (id: string) =>
  eventually(async () => {
    const { database } = await api()(clusters.get, { path: { id } })
    expect(database.status).toBe('online')
    return database.connection as Connection
  })

test('clusters outlive kill -9 of Cove, come back after a machine restart, and go for good', {
  timeout: 90_000,
}, async () => {
  cove = await startCove(home)
  const body = { region: 'nyc3', size: 'db-s-1vcpu-1gb', num_nodes: 1 }
  const made = await Promise.all(
    (['pg', 'valkey', 'mysql'] as const).map(async (engine) => {
      const { database } = await api()(clusters.create, {
        body: { ...body, name: `kept-${engine}`, engine },
      })
      const connection = await online(database.id)
      return { id: database.id, client: clients[engine] as EngineClient, connection }
    }),
  )
  const { ca } = await api()(clusters.ca, { path: { id: made[0]?.id ?? '' } })
  const pem = Buffer.from(ca.certificate, 'base64').toString()
  const pidOf = (id: string): number =>
    JSON.parse(readFileSync(join(home, 'databases', id, 'node-0', 'process.json'), 'utf8')).pid
  const reads = async () => {
    for (const { client, connection } of made)
      await eventually(async () => {
        const session = await client.connect(connection, pem)
        expect(await session.get('kept')).toBe('yes')
        await session.close()
      })
  }
  for (const { client, connection } of made) {
    const session = await client.connect(connection, pem)
    await session.put('kept', 'yes')
    await session.close()
  }
  const pids = made.map(({ id }) => pidOf(id))

  await cove.kill()
  await reads()
  cove = await startCove(home)
  for (const { id, connection } of made) expect(await online(id)).toEqual(connection)
  expect(made.map(({ id }) => pidOf(id))).toEqual(pids)

  // The machine goes down: Cove and its servers end together. Valkey writes its snapshot when asked to end.
  await cove.kill()
  for (const pid of pids) process.kill(pid, 'SIGTERM')
  await eventually(async () => expect(processesOf(join(home, 'databases'))).toEqual([]))
  cove = await startCove(home)
  for (const { id, connection } of made) expect(await online(id)).toEqual(connection)
  await reads()
  expect(made.map(({ id }) => pidOf(id))).not.toEqual(pids)

  for (const { id } of made) await api()(clusters.delete, { path: { id } })
  await eventually(async () => {
    expect(processesOf(join(home, 'databases'))).toEqual([])
    for (const { id } of made) expect(existsSync(join(home, 'databases', id))).toBe(false)
  })
})
