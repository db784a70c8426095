import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Node } from '../local/engine.ts'
import { exists, writeWhole } from '../local/files.ts'
import { literal, root } from './client.ts'

/** Memory for shared buffers when nobody says otherwise: a fifth, as the public API's least. */
const buffersMib = (node: Node): number => {
  const percentage = Number(node.cluster.settings.shared_buffers_percentage ?? 20)
  return Math.max(16, Math.floor((node.cluster.memoryMib * percentage) / 100))
}

/** One connection for about 4 MiB of memory, and never fewer than the API's least. */
const connections = (node: Node): number =>
  Math.max(25, Math.min(500, Math.floor(node.cluster.memoryMib / 10)))

const base = (node: Node): Record<string, string> => ({
  listen_addresses: node.host,
  port: String(node.port),
  unix_socket_directories: node.run,
  unix_socket_permissions: '0700',
  cluster_name: node.name,
  ssl: 'on',
  ssl_cert_file: node.tls.cert,
  ssl_key_file: node.tls.key,
  ssl_ca_file: node.tls.ca,
  ssl_min_protocol_version: 'TLSv1.2',
  password_encryption: 'scram-sha-256',
  shared_buffers: `${buffersMib(node)}MB`,
  max_connections: String(connections(node)),
  dynamic_shared_memory_type: 'posix',
  wal_level: 'logical',
  wal_log_hints: 'on',
  max_wal_senders: '20',
  max_replication_slots: '20',
  wal_keep_size: '64MB',
  max_wal_size: `${Math.max(128, Math.min(1024, Math.floor(node.cluster.storageMib / 10)))}MB`,
  hot_standby: 'on',
  log_timezone: 'UTC',
  timezone: 'UTC',
})

const access = `local all all scram-sha-256
local replication all scram-sha-256
hostssl all ${root} all reject
hostssl replication ${root} all reject
hostssl all all all scram-sha-256
hostssl replication all all scram-sha-256
`

/** Written before every start: where to listen, whom to follow. Settings of the customer are in postgresql.auto.conf. */
export const writeFiles = async (node: Node, primary: Node): Promise<void> => {
  const lines = Object.entries(base(node)).map(([name, value]) => `${name} = ${literal(value)}`)
  const follow =
    node.role === 'replica'
      ? [
          `primary_conninfo = ${literal(
            `host=${primary.run} port=${primary.port} user=${root} password=${primary.cluster.rootPassword} application_name=${node.name}`,
          )}`,
        ]
      : []
  await writeWhole(join(node.data, 'cove.conf'), [...lines, ...follow, ''].join('\n'), node.as)
  await writeWhole(join(node.data, 'pg_hba.conf'), access, node.as)
  const signal = join(node.data, 'standby.signal')
  if (node.role === 'replica') await writeWhole(signal, '', node.as)
  else if (await exists(signal)) await rm(signal)
  await include(join(node.data, 'postgresql.conf'))
}

const includes = "include = 'cove.conf'"
const include = async (file: string) => {
  if (!(await readFile(file, 'utf8')).includes(includes)) await appendFile(file, `\n${includes}\n`)
}
