import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clients, type EngineClient, type Login } from '../../../test/databases/clients.ts'
import { eventually } from '../../../test/databases/eventually.ts'
import { processesOf } from '../../../test/databases/leftovers.ts'
import { type World, world } from '../../../test/world.ts'
import { type Cluster, type Connection, clusters } from './clusters/contract.ts'

/** What each engine's story changes, and how the change shows. */
const stories = {
  pg: {
    settings: { tool: 'db-cluster-update-psql-config', args: { config: { work_mem: 9 } } },
    read: 'db-cluster-get-postgresql-config',
    shows: { work_mem: 9 },
    atStart: { config: { max_connections: 61 } },
    bad: { unknown: { config: { redis_timeout: 1 } }, range: { config: { work_mem: 5000 } } },
  },
  mysql: {
    settings: {
      tool: 'db-cluster-update-mysql-config',
      args: { config_json: '{"connect_timeout": 17}' },
    },
    read: 'db-cluster-get-mysql-config',
    shows: { connect_timeout: 17 },
    atStart: { config_json: '{"innodb_ft_min_token_size": 4}' },
    bad: {
      unknown: { config_json: '{"jit": true}' },
      range: { config_json: '{"connect_timeout": 1}' },
    },
  },
  valkey: {
    settings: {
      tool: 'db-cluster-update-redis-config',
      args: { config: { redis_maxmemory_policy: 'allkeys-lru' } },
    },
    read: 'db-cluster-get-redis-config',
    shows: { valkey_maxmemory_policy: 'allkeys_lru' },
    atStart: { config: { redis_number_of_databases: 20 } },
    bad: {
      unknown: { config: { jit: true } },
      range: { config: { redis_maxmemory_policy: 'sometimes' } },
    },
    durable: { config: { redis_persistence: 'aof' } },
  },
} as const

const templates = join(tmpdir(), `cove-test-templates-${process.getuid?.()}`)

/** Every engine behind the kernel's filter where there is one, and one behind the proxy. */
const settings = [
  ['pg', 'auto'],
  ['mysql', 'auto'],
  ['valkey', 'auto'],
  ['valkey', 'proxy'],
] as const

describe.each(settings)('%s behind the gate: %s', (engine, gate) => {
  const story = stories[engine]
  let cove: World
  let id = ''
  let connection: Connection
  let ca = ''
  const client = clients[engine] as EngineClient
  const connect = (login?: Login) => client.connect(connection, ca, login)
  const cluster = async (of = id) =>
    (await cove.tool('db-cluster-get', { id: of })).database as Cluster
  const create = async (name: string, more: Record<string, unknown> = {}) => {
    const { version_availability } = await cove.api(clusters.options, {})
    const version = version_availability[engine]?.at(-1)?.version
    const body = { engine, version, region: 'nyc3', size: 'db-s-1vcpu-1gb', num_nodes: 1, ...more }
    const made = await cove.fetch('/v2/databases', {
      method: 'POST',
      body: JSON.stringify({ name, ...body }),
    })
    expect(made.status).toBe(201)
    const { database } = (await made.json()) as { database: Cluster }
    await cove.settle()
    return database.id
  }

  beforeAll(async () => {
    cove = await world({ databases: { templates, gate } })
  })
  afterAll(async () => {
    for (const { id: left } of (await cove.api(clusters.list, {})).databases)
      await cove.api(clusters.delete, { path: { id: left } })
    await cove.settle()
    await cove.close()
  })

  test('is created and answers its ordinary client over verified TLS', async () => {
    const options = await cove.api(clusters.options, {})
    const version = options.options[engine]?.versions?.at(-1)
    const made = await cove.tool('db-cluster-create', {
      ...{ name: `${engine}-story`, engine, version, region: 'nyc3' },
      ...{ size: 'db-s-1vcpu-1gb', num_nodes: 1, tags: 'env:test, blue' },
    })
    expect(made.database).toMatchObject({ status: 'creating', tags: ['env:test', 'blue'] })
    id = (made.database as Cluster).id
    await cove.settle()
    const { connection: found, status } = await cluster()
    expect(status, JSON.stringify(await cove.call('db-cluster-get', { id }))).toBe('online')
    connection = found as Connection
    const answer = (await cove.tool('db-cluster-get-ca', { id })) as {
      ca: { certificate: string }
    }
    ca = Buffer.from(answer.ca.certificate, 'base64').toString()
    const session = await connect()
    await session.put('greeting', 'hello')
    expect(await session.get('greeting')).toBe('hello')
    await session.administer()
    await session.put('greeting', 'hello')
    await session.close()
    await expect(connect({ password: 'wrong' })).rejects.toThrow()
  })

  test('a user with limited rights is limited, and the default user stays', async () => {
    const { user } = (await cove.tool('db-cluster-create-user', { id, name: 'reporting' })) as {
      user: { name: string; password: string }
    }
    const session = await connect({ user: user.name, password: user.password })
    await expect(session.administer()).rejects.toThrow()
    await session.close()
    const { users } = (await cove.tool('db-cluster-list-users', { id, page: '1' })) as {
      users: { name: string; role: string }[]
    }
    expect(users.map(({ role }) => role)).toEqual(['primary', 'normal'])
    const first = users[0]?.name
    expect(await cove.refusal('db-cluster-delete-user', { id, user: first })).toContain(
      'is the default user',
    )
    await cove.tool('db-cluster-delete-user', { id, user: user.name })
    await expect(connect({ user: user.name, password: user.password })).rejects.toThrow()
  })

  test('a password is reset, and the old one is worth nothing', async () => {
    const before = (await cluster()).connection?.password ?? ''
    const reset = await cove.fetch(`/v2/databases/${id}/users/${connection.user}/reset_auth`, {
      method: 'POST',
      body: '{}',
    })
    expect(reset.status).toBe(200)
    await expect(connect({ password: before })).rejects.toThrow()
    connection = (await cluster()).connection as Connection
    await (await connect()).close()
  })

  test('settings change in the running engine, and are read back from it', async () => {
    await cove.tool(story.settings.tool, { id, ...story.settings.args })
    const { config } = await cove.tool(story.read, { id })
    expect(config).toMatchObject(story.shows)
    const restarted = await cove.call(story.settings.tool, { id, ...story.atStart })
    expect(JSON.stringify(restarted.content)).toContain('were restarted')
    const session = await connect()
    expect(await session.get('greeting')).toBe('hello')
    await session.close()
  })

  test('the firewall cuts and refuses who is not listed, and opens again', async () => {
    const before = await connect()
    const rules = [{ type: 'ip_addr', value: '127.0.0.9' }]
    await cove.tool('db-cluster-update-firewall-rules', { id, rules })
    await expect(before.get('greeting')).rejects.toThrow()
    await expect(connect()).rejects.toThrow()
    const listed = await connect({ from: '127.0.0.9' })
    expect(await listed.get('greeting')).toBe('hello')
    await listed.close()
    expect((await cove.tool('db-cluster-get-firewall-rules', { id })).rules).toMatchObject(rules)
    await cove.tool('db-cluster-update-firewall-rules', { id, rules: [] })
    await (await connect()).close()
  })

  test('a second node follows the first and is read-only', async () => {
    await cove.tool('db-cluster-resize', { id, num_nodes: 2 })
    expect((await cluster()).status).toBe('resizing')
    await cove.settle()
    const { status, standby_connection } = await cluster()
    expect(status).toBe('online')
    const replica = await connect({ standby: standby_connection as Connection })
    expect(await replica.get('greeting')).toBe('hello')
    await expect(replica.put('greeting', 'bye')).rejects.toThrow()
    await replica.close()
    const size = 'db-s-1vcpu-2gb'
    await cove.tool('db-cluster-resize', { id, size, num_nodes: 1 })
    await cove.settle()
    expect(await cluster()).toMatchObject({ status: 'online', size, num_nodes: 1 })
    const session = await connect()
    expect(await session.get('greeting')).toBe('hello')
    await session.close()
  })

  test('a backup is taken now, and a new cluster starts from it', async () => {
    const { backup } = await cove.api(clusters.backup, { path: { id } })
    const session = await connect()
    await session.put('greeting', 'changed since')
    await session.close()
    const { backups } = await cove.tool('db-cluster-list-backups', { id })
    expect(backups).toEqual([backup])
    const restored = await create(`${engine}-restored`, {
      backup_restore: { database_name: `${engine}-story`, backup_created_at: backup.created_at },
    })
    const copy = (await cluster(restored)).connection as Connection
    const again = await client.connect(copy, ca)
    expect(await again.get('greeting')).toBe('hello')
    await again.close()
    await cove.tool('db-cluster-delete', { id: restored })
    await cove.settle()
  })

  test('logs and metrics tell how it is', async () => {
    const { metrics } = await cove.api(clusters.metrics, { path: { id } })
    expect(metrics).toMatchObject({ state: 'online', nodes: [{ role: 'primary' }] })
    expect(metrics.memory_bytes).toBeGreaterThan(1e6)
    expect(metrics.disk_bytes).toBeGreaterThan(1000)
    const { logs } = await cove.api(clusters.logs, { path: { id } })
    expect(logs.length).toBeGreaterThan(3)
  })

  test('settings of another engine, wrong values and unknown fields are refused', async () => {
    const other =
      engine === 'pg' ? 'db-cluster-update-redis-config' : 'db-cluster-update-psql-config'
    const field = engine === 'pg' ? { redis_timeout: 10 } : { jit: true }
    expect(await cove.refusal(other, { id, config: field })).toMatch(/its settings: /)
    const wrongGet =
      engine === 'pg' ? 'db-cluster-get-mysql-config' : 'db-cluster-get-postgresql-config'
    expect(await cove.refusal(wrongGet, { id })).toContain(`use ${story.read} for it`)
    const bad = story.bad
    expect(await cove.refusal(story.settings.tool, { id, ...bad.unknown })).toContain(
      'its fields: ',
    )
    expect(await cove.refusal(story.settings.tool, { id, ...bad.range })).toMatch(
      /must be (at|one)/,
    )
  })

  test('names that would harm are refused, and the engine is unharmed', async () => {
    const names = [
      'a"; DROP TABLE kv; --',
      "x' OR 1=1",
      'ünï',
      'a b',
      '',
      'x'.repeat(64),
      '$(id)',
      '../x',
    ]
    for (const name of names)
      expect(await cove.refusal('db-cluster-create-user', { id, name })).toMatch(/name must/)
    for (const reserved of ['postgres', 'root', 'cove'])
      expect(await cove.refusal('db-cluster-create-user', { id, name: reserved })).toContain(
        'is taken',
      )
    const session = await connect()
    expect(await session.get('greeting')).toBe('changed since')
    await session.close()
  })

  test('a server that is killed comes back with its data', async () => {
    if ('durable' in story) await cove.tool(story.settings.tool, { id, ...story.durable })
    const folder = join(cove.home, 'databases', id)
    const node = readdirSync(folder).find((name) => name.startsWith('node-')) ?? ''
    const { pid } = JSON.parse(readFileSync(join(folder, node, 'process.json'), 'utf8'))
    expect(pid).toBeGreaterThan(1)
    process.kill(pid, 'SIGKILL')
    const session = await eventually(connect)
    expect(await session.get('greeting')).toBe('changed since')
    await session.close()
  })

  test('deletion leaves no process, no port and no file', async () => {
    await cove.tool('db-cluster-delete', { id })
    expect(await cove.refusal('db-cluster-get', { id })).toContain('was not found')
    await cove.settle()
    expect(processesOf(id)).toEqual([])
    expect(existsSync(join(cove.home, 'databases', id))).toBe(false)
    expect(readdirSync(join(cove.home, 'databases')).filter((name) => name.length === 36)).toEqual(
      [],
    )
    await expect(connect()).rejects.toThrow()
  })
})
