import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesOf } from '../../../test/databases/leftovers.ts'
import { type World, world } from '../../../test/world.ts'
import { type Cluster, type Connection, clusters } from './clusters/contract.ts'

/** FerretDB is fetched by `cove engines install mongodb`; tests use one that is there already. */
const installed = join(tmpdir(), `cove-test-engines-${process.getuid?.()}`)
const present = existsSync(join(installed, 'ferretdb-1.24.2'))
if (!present) console.warn('\nNOT TESTED: no MongoDB-protocol server is installed here.\n')

describe.runIf(present)('mongodb', () => {
  let cove: World
  let id = ''
  let ca = ''
  const cluster = async (of = id) => {
    const got = await cove.call('db-cluster-get', { id: of })
    const database = got.structuredContent?.database as Cluster
    expect(database.status, JSON.stringify(got.content)).toBe('online')
    return database.connection as Connection
  }
  const create = async (name: string, more: object = {}) => {
    const body = { name, engine: 'mongodb', region: 'nyc3', size: 'db-s-1vcpu-1gb', num_nodes: 1 }
    const made = await cove.fetch('/v2/databases', {
      method: 'POST',
      body: JSON.stringify({ ...body, ...more }),
    })
    await cove.settle()
    return ((await made.json()) as { database: Cluster }).database.id
  }
  /** Opens a client, lets it work, closes it. */
  const using = async <T>(
    connection: Connection,
    work: (client: MongoClient) => Promise<T>,
    login: { user?: string; password?: string } = {},
  ) => {
    const user = login.user ?? connection.user ?? ''
    const password = encodeURIComponent(login.password ?? connection.password ?? '')
    const address = `${connection.host}:${connection.port}`
    const client = new MongoClient(
      `mongodb://${user}:${password}@${address}/?authMechanism=PLAIN&tls=true`,
      { ca, serverSelectionTimeoutMS: 4000 },
    )
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }

  beforeAll(async () => {
    cove = await world({ databases: { installed } })
    id = await create('papers')
    await cluster()
    const authority = await cove.api(clusters.ca, { path: { id } })
    ca = Buffer.from(authority.ca.certificate, 'base64').toString()
  }, 60_000)
  afterAll(async () => {
    for (const { id: left } of (await cove.api(clusters.list, {})).databases)
      await cove.api(clusters.delete, { path: { id: left } })
    await cove.settle()
    expect(processesOf(id)).toEqual([])
    await cove.close()
  }, 60_000)

  test('documents are written and found over verified TLS', async () => {
    await using(await cluster(), async (client) => {
      const books = client.db('library').collection('books')
      await books.insertOne({ title: 'Sea', pages: 120 })
      expect(await books.findOne({ pages: { $gt: 100 } })).toMatchObject({ title: 'Sea' })
    })
    await expect(
      using(await cluster(), (client) => client.db('library').command({ listCollections: 1 }), {
        password: 'wrong',
      }),
    ).rejects.toThrow()
  })

  test('rights on databases are enforced', async () => {
    const settings = { mongo_user_settings: { databases: ['library'], role: 'readOnly' } }
    const { user } = (await cove.tool('db-cluster-create-user', {
      id,
      name: 'reader',
      settings,
    })) as {
      user: { password: string }
    }
    const login = { user: 'reader', password: user.password }
    const connection = await cluster()
    const books = (client: MongoClient) => client.db('library').collection('books')
    expect(await using(connection, (client) => books(client).countDocuments(), login)).toBe(1)
    await expect(
      using(connection, (client) => books(client).insertOne({ title: 'No' }), login),
    ).rejects.toThrow()
    await expect(
      using(connection, (client) => client.db('other').collection('x').insertOne({ a: 1 }), login),
    ).rejects.toThrow()
    await cove.tool('db-cluster-update-user', {
      ...{ id, user: 'reader' },
      settings: { mongo_user_settings: { databases: ['library'], role: 'readWrite' } },
    })
    await using(connection, (client) => books(client).insertOne({ title: 'Yes' }), login)
    await cove.tool('db-cluster-delete-user', { id, user: 'reader' })
    await expect(
      using(connection, (client) => books(client).countDocuments(), login),
    ).rejects.toThrow()
  })

  test('settings, firewall and backups work as for other engines', async () => {
    await cove.tool('db-cluster-update-mongodb-config', {
      id,
      config: { slow_op_threshold_ms: 250 },
    })
    const { config } = await cove.tool('db-cluster-get-mongodb-config', { id })
    expect(config).toMatchObject({ slow_op_threshold_ms: 250 })
    const told = await cove.call('db-cluster-update-mongodb-config', {
      id,
      config: { verbosity: 2 },
    })
    expect(JSON.stringify(told.content)).toContain('verbosity is accepted and not in force')
    const connection = await cluster()
    const count = (to: Connection) =>
      using(to, (client) => client.db('library').collection('books').countDocuments())
    const rules = [{ type: 'ip_addr', value: '10.1.2.3' }]
    await cove.tool('db-cluster-update-firewall-rules', { id, rules })
    await expect(count(connection)).rejects.toThrow()
    await cove.tool('db-cluster-update-firewall-rules', { id, rules: [] })
    expect(await count(connection)).toBe(2)
    await cove.api(clusters.backup, { path: { id } })
    const copy = await create('papers-again', { backup_restore: { database_name: 'papers' } })
    expect(await count(await cluster(copy))).toBe(2)
  }, 60_000)
})
