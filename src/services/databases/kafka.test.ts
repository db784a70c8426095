import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesOf } from '../../../test/databases/leftovers.ts'
import { type World, world } from '../../../test/world.ts'
import { type Cluster, type Connection, clusters } from './clusters/contract.ts'

/** Kafka is fetched by `cove engines install kafka`; tests use one that is there already. */
const installed = join(tmpdir(), `cove-test-engines-${process.getuid?.()}`)
const present = Boolean(process.env.KAFKA_HOME) || existsSync(join(installed, 'kafka-3.9.1'))
if (!present) console.warn('\nNOT TESTED: Kafka is not installed here (KAFKA_HOME).\n')

describe.runIf(present)('kafka', () => {
  let cove: World
  let id = ''
  let connection: Connection
  let ca = ''

  beforeAll(async () => {
    cove = await world({ databases: { installed } })
    const made = await cove.tool('db-cluster-create', {
      ...{ name: 'events', engine: 'kafka', version: '3.9', region: 'nyc3' },
      ...{ size: 'db-s-1vcpu-1gb', num_nodes: 1 },
    })
    id = (made.database as Cluster).id
    await cove.settle()
    const got = await cove.call('db-cluster-get', { id })
    const database = got.structuredContent?.database as Cluster
    expect(database.status, JSON.stringify(got.content)).toBe('online')
    connection = database.connection as Connection
    const authority = await cove.api(clusters.ca, { path: { id } })
    ca = Buffer.from(authority.ca.certificate, 'base64').toString()
  }, 120_000)
  afterAll(async () => {
    await cove.tool('db-cluster-delete', { id })
    await cove.settle()
    expect(processesOf(id)).toEqual([])
    await cove.close()
  }, 60_000)

  const client = (username = connection.user ?? '', password = connection.password ?? '') =>
    new Kafka({
      brokers: [`${connection.host}:${connection.port}`],
      ssl: { ca },
      sasl: { mechanism: 'scram-sha-256', username, password },
      logLevel: logLevel.NOTHING,
      retry: { retries: 2 },
    })

  const produce = async (kafka: Kafka, topic: string, ...values: string[]) => {
    const producer = kafka.producer()
    await producer.connect()
    try {
      await producer.send({ topic, messages: values.map((value) => ({ key: value, value })) })
    } finally {
      await producer.disconnect()
    }
  }

  const consume = async (kafka: Kafka, topic: string, count: number) => {
    const consumer = kafka.consumer({ groupId: `g-${topic}`, retry: { retries: 1 } })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    const seen: string[] = []
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
      consumer
        .run({
          eachMessage: async ({ message }) => {
            seen.push(String(message.value))
            if (seen.length >= count) resolve()
          },
        })
        .catch(reject)
    }).finally(() => consumer.disconnect())
    return seen
  }

  test('a topic is made, written, read, widened, changed and deleted', async () => {
    await cove.tool('db-cluster-create-topic', {
      ...{ id, name: 'orders', partition_count: '2', replication_factor: '1' },
      config: { retention_ms: 3_600_000, cleanup_policy: 'compact_delete' },
    })
    await produce(client(), 'orders', 'a', 'b', 'c')
    expect((await consume(client(), 'orders', 3)).sort()).toEqual(['a', 'b', 'c'])
    await cove.tool('db-cluster-update-topic', {
      ...{ id, name: 'orders', partition_count: '3', config: { max_message_bytes: 2_000_000 } },
    })
    const { topic } = (await cove.tool('db-cluster-get-topic', { id, name: 'orders' })) as {
      topic: { partitions: unknown[]; config: object }
    }
    expect(topic.partitions).toHaveLength(3)
    expect(topic.config).toMatchObject({
      retention_ms: 3_600_000,
      cleanup_policy: 'compact_delete',
      max_message_bytes: 2_000_000,
    })
    const fewer = { id, name: 'orders', partition_count: '1' }
    expect(await cove.refusal('db-cluster-update-topic', fewer)).toContain('cannot be taken away')
    const many = { id, name: 'wide', replication_factor: '2' }
    expect(await cove.refusal('db-cluster-create-topic', many)).toContain('must be at most 1')
    const harm = { id, name: 'a/../b;c' }
    expect(await cove.refusal('db-cluster-create-topic', harm)).toContain('name must be')
    expect(await cove.tool('db-cluster-list-topics', { id, page: '1' })).toMatchObject({
      topics: [{ name: 'orders', partition_count: 3, replication_factor: 1, state: 'active' }],
    })
    await cove.tool('db-cluster-delete-topic', { id, name: 'orders' })
    expect(await cove.refusal('db-cluster-get-topic', { id, name: 'orders' })).toContain(
      'not found',
    )
  }, 60_000)

  test('rights on topics are enforced by the brokers', async () => {
    await cove.tool('db-cluster-create-topic', { id, name: 'public-1' })
    await cove.tool('db-cluster-create-topic', { id, name: 'secret' })
    const { user } = (await cove.tool('db-cluster-create-user', {
      ...{ id, name: 'writer' },
      settings: { acl: [{ topic: 'public-*', permission: 'produce' }] },
    })) as { user: { name: string; password: string } }
    const writer = client(user.name, user.password)
    await produce(writer, 'public-1', 'hello')
    await expect(produce(writer, 'secret', 'no')).rejects.toThrow(/authori/i)
    await expect(consume(writer, 'public-1', 1)).rejects.toThrow(/authori|coordinator/i)
    await cove.tool('db-cluster-update-user', {
      ...{ id, user: 'writer' },
      settings: { acl: [{ topic: 'public-*', permission: 'produceconsume' }] },
    })
    expect(await consume(writer, 'public-1', 1)).toEqual(['hello'])
    await cove.tool('db-cluster-delete-user', { id, user: 'writer' })
    await expect(produce(writer, 'public-1', 'again')).rejects.toThrow()
  }, 90_000)

  test('settings of the brokers change while they run, or with a restart', async () => {
    const tool = 'db-cluster-update-kafka-config'
    await cove.tool(tool, { id, config: { log_retention_ms: 7_200_000 } })
    const read = async () => (await cove.tool('db-cluster-get-kafka-config', { id })).config
    expect(await read()).toMatchObject({ log_retention_ms: 7_200_000 })
    const restarted = await cove.call(tool, { id, config: { group_min_session_timeout_ms: 5000 } })
    expect(JSON.stringify(restarted.content)).toContain('were restarted')
    expect(await read()).toMatchObject({
      log_retention_ms: 7_200_000,
      group_min_session_timeout_ms: 5000,
    })
  }, 60_000)

  test('the firewall refuses who is not listed', async () => {
    const rules = [{ type: 'ip_addr', value: '10.1.2.3' }]
    await cove.tool('db-cluster-update-firewall-rules', { id, rules })
    await expect(client().admin().connect()).rejects.toThrow()
    await cove.tool('db-cluster-list-topics', { id })
    await cove.tool('db-cluster-update-firewall-rules', { id, rules: [] })
    const admin = client().admin()
    await admin.connect()
    await admin.disconnect()
  }, 60_000)
})
