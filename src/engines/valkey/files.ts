import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { UserSpec } from '../database.ts'
import type { Node } from '../local/engine.ts'
import { exists, writeWhole } from '../local/files.ts'
import { root, socketOf } from './client.ts'
import { directives, usesTls, wantsAof } from './settings.ts'

/** A quarter of the memory is left for buffers and snapshots. */
const maxMemoryMib = (node: Node) => Math.max(16, Math.floor(node.cluster.memoryMib * 0.75))

/** Rules for the server's access list. */
export const rulesOf = (user: Omit<UserSpec, 'name'>): string[] => [
  'reset',
  'on',
  `#${createHash('sha256').update(user.password).digest('hex')}`,
  '~*',
  '&*',
  ...(user.primary
    ? ['+@all', '-@admin', '+psync', '+replconf', '+client', '+slowlog']
    : user.readonly
      ? ['+@read', '+@connection', '+info']
      : ['+@all', '-@admin', '-@dangerous', '+info', '+keys']),
]

/** The first access list; afterwards the server keeps it. */
export const accessList = (node: Node): string => {
  const { admin, rootPassword } = node.cluster
  const everything = rulesOf({ password: rootPassword, primary: true }).slice(1)
  return [
    `user ${root} ${everything.filter((rule) => !rule.startsWith('-')).join(' ')}`,
    `user ${admin.name} ${rulesOf({ password: admin.password, primary: true }).slice(1).join(' ')}`,
    '',
  ].join('\n')
}

export const writeFiles = async (node: Node, primary: Node): Promise<void> => {
  const tls = usesTls(node)
  const quoted = (value: string) => JSON.stringify(value)
  const aofPresent = await exists(join(node.data, 'appendonlydir', 'appendonly.aof.manifest'))
  const lines: [string, string][] = [
    ['bind', node.host],
    ['bind-source-addr', node.host],
    [tls ? 'port' : 'tls-port', '0'],
    [tls ? 'tls-port' : 'port', String(node.port)],
    ['tls-cert-file', quoted(node.tls.cert)],
    ['tls-key-file', quoted(node.tls.key)],
    ['tls-ca-cert-file', quoted(node.tls.ca)],
    ['tls-auth-clients', 'no'],
    ['tls-replication', tls ? 'yes' : 'no'],
    ['unixsocket', quoted(socketOf(node))],
    ['unixsocketperm', '700'],
    ['protected-mode', 'no'],
    ['daemonize', 'no'],
    ['dir', quoted(node.data)],
    ['aclfile', quoted(join(node.data, 'users.acl'))],
    ['maxmemory', `${maxMemoryMib(node)}mb`],
    ['repl-diskless-sync-delay', '0'],
    // An append-only start without its files would forget the snapshot: it is switched on when up.
    ['appendonly', wantsAof(node) && aofPresent ? 'yes' : 'no'],
    ...directives(node).map(([name, value]): [string, string] => [
      name,
      value === '' ? '""' : value,
    ]),
    ...(node.role === 'replica'
      ? ([
          ['replicaof', `${primary.host} ${primary.port}`],
          ['masteruser', root],
          ['masterauth', primary.cluster.rootPassword],
        ] satisfies [string, string][])
      : []),
  ]
  const file = lines.map(([name, value]) => `${name} ${value}`).join('\n')
  await writeWhole(join(node.dir, 'server.conf'), `${file}\n`, node.as)
}
