import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installEngine } from '#engines/install/install.ts'
import { clients, type EngineClient } from '../../../test/databases/clients.ts'
import { type World, world } from '../../../test/world.ts'
import { type Cluster, type Connection, clusters } from './clusters/contract.ts'

const shared = join(tmpdir(), `cove-test-engines-${process.getuid?.()}`)
const postgres = clients.pg as EngineClient
let cove: World

beforeAll(async () => {
  await installEngine(shared, 'pg')
  // A version that says it is there, and cannot even make its data.
  const broken = join(shared, 'pg-99', 'bin')
  mkdirSync(broken, { recursive: true })
  for (const program of ['postgres', 'initdb']) {
    writeFileSync(
      join(broken, program),
      '#!/bin/sh\n[ "$1" = --version ] && echo "postgres (PostgreSQL) 99.1" || { echo "FATAL: no such luck" >&2; exit 1; }\n',
    )
    chmodSync(join(broken, program), 0o755)
  }
  chmodSync(shared, 0o755)
  const templates = join(tmpdir(), `cove-test-templates-${process.getuid?.()}`)
  cove = await world({ databases: { templates, installed: shared } })
}, 120_000)
afterAll(async () => {
  for (const { id } of (await cove.api(clusters.list, {})).databases)
    await cove.api(clusters.delete, { path: { id } })
  await cove.settle()
  await cove.close()
})

test('a major upgrade keeps data, accounts and settings; a failed one leads back', async () => {
  const body = { name: 'old', engine: 'pg' as const, version: '15', region: 'nyc3' }
  const made = await cove.api(clusters.create, {
    body: { ...body, size: 'db-s-1vcpu-1gb', num_nodes: 1 },
  })
  const { id } = made.database
  await cove.settle()
  const get = () => cove.call('db-cluster-get', { id })
  const cluster = async () => (await get()).structuredContent?.database as Cluster
  const { ca } = await cove.api(clusters.ca, { path: { id } })
  const pem = Buffer.from(ca.certificate, 'base64').toString()
  const connection = (await cluster()).connection as Connection
  const session = await postgres.connect(connection, pem)
  for (let n = 0; n < 50; n++) await session.put(`row ${n}`, `value ${n}`)
  const before = await session.everything()
  await session.close()
  const created = await cove.tool('db-cluster-create-user', { id, name: 'keeper' })
  const { password } = created.user as { password: string }
  await cove.tool('db-cluster-update-psql-config', { id, config: { work_mem: 7 } })

  const upgrade = (version: string) => ({ id, version })
  const tool = 'db-cluster-upgrade-major-version'
  expect(await cove.refusal(tool, upgrade('15'))).toContain('must be newer than 15')
  expect(await cove.refusal(tool, upgrade('16'))).toContain('is not on this machine; there is 15')

  await cove.tool(tool, upgrade('99'))
  await cove.settle()
  expect(await cluster()).toMatchObject({ status: 'online', version: '15' })
  expect(JSON.stringify((await get()).content)).toContain('The upgrade to 99 failed and 15 serves')
  const still = await postgres.connect(connection, pem)
  expect(await still.everything()).toBe(before)
  await still.close()

  await cove.tool(tool, upgrade('17'))
  expect((await cluster()).status).toBe('migrating')
  await cove.settle()
  const now = await get()
  expect(await cluster(), JSON.stringify(now.content)).toMatchObject({
    status: 'online',
    version: '17',
    connection,
  })
  const after = await postgres.connect(connection, pem)
  expect(await after.everything()).toBe(before)
  await after.put('written', 'on 17')
  await after.close()
  const keeper = await postgres.connect(connection, pem, { user: 'keeper', password })
  await expect(keeper.administer()).rejects.toThrow()
  await keeper.close()
  const { config } = await cove.tool('db-cluster-get-postgresql-config', { id })
  expect(config).toMatchObject({ work_mem: 7 })
}, 90_000)
