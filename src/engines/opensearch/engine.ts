import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '#core/error.ts'
import type { LocalEngine, Node, Release } from '../local/engine.ts'
import { copyTree, exists, privateFolder, writeWhole } from '../local/files.ts'
import { findProgram, remembered } from '../local/find.ts'
import { run } from '../local/run.ts'
import { deleteUser, listUsers, putUser } from './accounts.ts'
import { ask } from './client.ts'
import { applyConfig, fileLines, readConfig } from './settings.ts'

/** OpenSearch by `OPENSEARCH_HOME`, or as `cove engines install opensearch` puts it. */
const find = async (installed: string): Promise<Release[]> => {
  if (!(await findProgram('java'))) return []
  const fetched = (await readdir(installed).catch(() => []))
    .filter((name) => /^opensearch-[\d.]+$/.test(name))
    .map((name) => join(installed, name))
  for (const home of [process.env.OPENSEARCH_HOME, ...fetched]) {
    if (!home) continue
    const jars = await readdir(join(home, 'lib')).catch(() => [])
    const semantic = jars
      .map((jar) => /^opensearch-(\d+\.\d+\.\d+)\.jar$/.exec(jar)?.[1])
      .find(Boolean)
    if (!semantic || !(await exists(join(home, 'plugins', 'opensearch-security')))) continue
    const version = semantic.split('.')[0] ?? ''
    return [{ version, semantic, product: `OpenSearch ${semantic}`, bin: home }]
  }
  return []
}

const configure = async (node: Node) => {
  const folder = join(node.dir, 'config')
  await privateFolder(folder, node.as)
  for (const [name, file] of Object.entries(node.tls))
    await copyOver(file, join(folder, `${name}.pem`))
  const security = join(folder, 'opensearch-security')
  if (!(await exists(security))) {
    await copyTree(join(node.release.bin, 'plugins', 'opensearch-security', 'config'), security)
    // No account but those that Cove makes.
    const meta = '_meta:\n  type: "internalusers"\n  config_version: 2\n'
    await writeWhole(join(security, 'internal_users.yml'), meta, node.as)
    if (node.as) await run({ argv: ['chown', '-R', `${node.as.uid}:${node.as.gid}`, security] })
  }
  const layers = (name: string) => `plugins.security.ssl.${name}`
  const subject = `CN=${node.cluster.id}.db.cove.internal`
  const lines = [
    `cluster.name: ${node.cluster.id}`,
    `node.name: ${node.name}`,
    `path.data: ${node.data}`,
    `path.logs: ${join(node.dir, 'logs')}`,
    `network.host: ${node.host}`,
    `http.port: ${node.port}`,
    `transport.port: ${node.port + 100}`,
    'discovery.type: single-node',
    'bootstrap.system_call_filter: false',
    'cluster.routing.allocation.disk.threshold_enabled: false',
    ...['transport', 'http'].flatMap((layer) => [
      `${layers(layer)}.pemcert_filepath: cert.pem`,
      `${layers(layer)}.pemkey_filepath: key.pem`,
      `${layers(layer)}.pemtrustedcas_filepath: ca.pem`,
    ]),
    `${layers('transport')}.enforce_hostname_verification: false`,
    `${layers('http')}.enabled: true`,
    'plugins.security.allow_default_init_securityindex: true',
    `plugins.security.authcz.admin_dn: ["${subject}"]`,
    'plugins.security.restapi.roles_enabled: ["all_access"]',
    ...fileLines(node.cluster.settings),
    '',
  ]
  await writeWhole(join(folder, 'opensearch.yml'), lines.join('\n'), node.as)
  const logging = [
    'status = error',
    'appender.console.type = Console',
    'appender.console.name = console',
    'appender.console.layout.type = PatternLayout',
    'appender.console.layout.pattern = [%d][%p][%c{1.}] %m%n',
    'rootLogger.level = info',
    'rootLogger.appenderRef.console.ref = console',
    '',
  ]
  await writeWhole(join(folder, 'log4j2.properties'), logging.join('\n'), node.as)
}

const copyOver = (from: string, to: string) => run({ argv: ['cp', '-a', from, to] })

const none = (what: string) => async (): Promise<never> => {
  throw ApiError.invalid(`OpenSearch clusters have no ${what} on this machine.`)
}

export const opensearchEngine = (installed: string): LocalEngine => ({
  engine: 'opensearch',
  accounts: ['opensearch', 'nobody'],
  stopSignal: 'SIGTERM',
  graceMs: 20_000,
  maxNodes: 1,
  releases: remembered(() => find(installed), 10_000),
  missing:
    'OpenSearch was not found: set OPENSEARCH_HOME, or run "cove engines install opensearch" (it needs Java and Maven).',
  initialise: (node, into) => privateFolder(into, node.as),
  replicate: none('replicas'),
  configure,
  command: async (node) => ({
    argv: [
      ...['java', '-Xms256m', `-Xmx${Math.max(512, Math.floor(node.cluster.memoryMib / 2))}m`],
      ...['-XX:+UseSerialGC', '-Djava.security.manager=allow', '-Djna.nosys=true'],
      ...['-Dio.netty.noUnsafe=true', '-Dlog4j2.disable.jmx=true'],
      ...['-Dlog4j.shutdownHookEnabled=false', '-Djava.locale.providers=SPI,COMPAT'],
      `-Dopensearch.path.home=${node.release.bin}`,
      `-Dopensearch.path.conf=${join(node.dir, 'config')}`,
      `-Djava.io.tmpdir=${node.run}`,
      ...['-cp', join(node.release.bin, 'lib', '*'), 'org.opensearch.bootstrap.OpenSearch'],
    ],
    cwd: node.dir,
    as: node.as,
    env: { HOME: node.dir },
  }),
  ready: async (node) => void (await listUsers(node)),
  bootstrap: (node) => putUser(node, { ...node.cluster.admin, primary: true }),
  promote: none('replicas'),
  connections: async (node) => {
    const found = await ask(node, 'GET', '/_nodes/stats/http')
    const nodes = Object.values(found.nodes as Record<string, { http: { current_open: number } }>)
    return nodes[0]?.http.current_open ?? 0
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
  upgrade: none('upgrades'),
  migration: {
    start: none('online migration'),
    status: async (_node, migration) => migration,
    stop: async () => undefined,
  },
})
