import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '#core/error.ts'
import type { LocalEngine, Node, Release } from '../local/engine.ts'
import { privateFolder } from '../local/files.ts'
import { findProgram, remembered } from '../local/find.ts'
import { run } from '../local/run.ts'
import { classPath, deleteUser, listUsers, putUser, tool } from './accounts.ts'
import { withAdmin } from './client.ts'
import { writeFiles } from './files.ts'
import { applyConfig, readConfig } from './settings.ts'
import { kafkaTopics } from './topics.ts'

/** Apache Kafka by `KAFKA_HOME`, or as `cove engines install kafka` puts it. */
const find = async (installed: string): Promise<Release[]> => {
  if (!(await findProgram('java'))) return []
  const fetched = await readdir(installed).catch(() => [])
  const homes = [
    process.env.KAFKA_HOME,
    ...fetched.filter((name) => /^kafka-[\d.]+$/.test(name)).map((name) => join(installed, name)),
  ]
  for (const home of homes) {
    if (!home) continue
    const jars = await readdir(join(home, 'libs')).catch(() => [])
    const semantic = jars
      .map((jar) => /^kafka_2\.13-(\d+\.\d+\.\d+)\.jar$/.exec(jar)?.[1])
      .find(Boolean)
    if (!semantic) continue
    const version = semantic.split('.').slice(0, 2).join('.')
    return [{ version, semantic, product: `Apache Kafka ${semantic}`, bin: home }]
  }
  return []
}

/** Every broker of a cluster is formatted with the same id. */
const clusterId = (node: Node) =>
  createHash('sha256').update(node.cluster.id).digest().subarray(0, 16).toString('base64url')

const format = async (node: Node, into: string) => {
  await privateFolder(into, node.as)
  const inPlace = { ...node, data: into }
  await writeFiles(inPlace)
  const file = join(node.dir, 'server.properties')
  await tool(node, 'kafka.tools.StorageTool', ['format', '-t', clusterId(node), '-c', file])
}

const none = (what: string) => async (): Promise<never> => {
  throw ApiError.invalid(`Kafka clusters have no ${what}.`)
}

export const kafkaEngine = (installed: string): LocalEngine => ({
  engine: 'kafka',
  accounts: ['kafka', 'nobody'],
  stopSignal: 'SIGTERM',
  graceMs: 20_000,
  maxNodes: 3,
  releases: remembered(() => find(installed), 10_000),
  missing:
    'Apache Kafka was not found: set KAFKA_HOME, or run "cove engines install kafka" (it needs Java and Maven).',
  initialise: format,
  replicate: (node, _primary, into) => format(node, into),
  configure: writeFiles,
  command: async (node) => ({
    argv: [
      'java',
      ...['-Xms128m', `-Xmx${Math.max(256, Math.floor(node.cluster.memoryMib / 2))}m`],
      ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'],
      `-Dlog4j.configuration=file:${join(node.dir, 'log4j.properties')}`,
      ...['-cp', classPath(node), 'kafka.Kafka', join(node.dir, 'server.properties')],
    ],
    cwd: node.data,
    as: node.as,
    env: { HOME: node.dir },
  }),
  ready: async (node) => {
    const wanted = node.cluster.nodes.indexOf(node.name)
    const { brokers } = await withAdmin(node, (admin) => admin.describeCluster())
    if (brokers.length <= wanted) throw new Error('The broker has not joined yet.')
  },
  bootstrap: (node) => putUser(node, { ...node.cluster.admin, primary: true }),
  promote: none('replicas to promote'),
  connections: async (node) => {
    const filter = ['state', 'established', 'src', `${node.host}:${node.port}`]
    return (await run({ argv: ['ss', '-Htn', ...filter] })).split('\n').filter(Boolean).length
  },
  readConfig,
  applyConfig,
  listUsers,
  putUser,
  deleteUser,
  listDatabases: async () => [],
  createDatabase: none('databases'),
  deleteDatabase: none('databases'),
  backup: none('backups'),
  restore: none('backups'),
  upgrade: none('upgrades on this machine'),
  migration: {
    start: none('online migration'),
    status: async (_node, migration) => migration,
    stop: async () => undefined,
  },
  topics: kafkaTopics,
})
