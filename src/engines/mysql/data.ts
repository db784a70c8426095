import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Node } from '../local/engine.ts'
import { copyTree, exists, privateFolder, writeWhole } from '../local/files.ts'
import { run } from '../local/run.ts'
import { root, socketOf } from './client.ts'
import { isMariadb, tool } from './releases.ts'
import { directives } from './settings.ts'

/** Size of the redo log; a template carries one, so it is kept small. */
const redo = '16M'

const number = (text: string): number =>
  (createHash('sha256').update(text).digest().readUInt32BE() % 4_000_000_000) + 1

/** The server's file, written before every start. */
export const writeFiles = async (node: Node): Promise<void> => {
  const { cluster } = node
  const lines = {
    datadir: node.data,
    socket: socketOf(node),
    'pid-file': join(node.run, 'server.pid'),
    port: node.port,
    'bind-address': node.host,
    'ssl-cert': node.tls.cert,
    'ssl-key': node.tls.key,
    'ssl-ca': node.tls.ca,
    'require-secure-transport': 'ON',
    'skip-name-resolve': 'ON',
    'local-infile': 'OFF',
    'performance-schema': 'OFF',
    'innodb-buffer-pool-size': `${Math.max(16, Math.floor(cluster.memoryMib / 2))}M`,
    'innodb-log-file-size': redo,
    'max-connections': Math.max(75, Math.min(1000, Math.floor(cluster.memoryMib / 10))),
    'server-id': number(`${cluster.id}/${node.name}`),
    'log-bin': 'binlog',
    'log-slave-updates': 'ON',
    'binlog-format': 'ROW',
    'character-set-server': 'utf8mb4',
    'read-only': node.role === 'replica' ? 'ON' : 'OFF',
    ...(isMariadb(node.release) ? { 'gtid-domain-id': number(cluster.id) } : {}),
  }
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}`)
  await writeWhole(
    join(node.dir, 'server.cnf'),
    ['[mysqld]', ...text, ...directives(node), ''].join('\n'),
    node.as,
  )
}

export const initialise = async (node: Node, into: string): Promise<void> => {
  const path = join(node.templates, node.release.semantic)
  if (!(await exists(path))) await makeTemplate(node, path)
  await copyTree(path, into)
}

const makeTemplate = async (node: Node, path: string) => {
  await privateFolder(node.templates, node.as)
  const mine = `${path}.${process.pid}.${node.cluster.id.slice(0, 8)}`
  await rm(mine, { recursive: true, force: true })
  await privateFolder(mine, node.as)
  const options = [`--datadir=${mine}`, `--innodb-log-file-size=${redo}`]
  await run({
    argv: isMariadb(node.release)
      ? [
          await tool(node.release, 'mariadb-install-db', 'mysql_install_db'),
          ...['--no-defaults', ...options, '--skip-test-db', '--skip-name-resolve'],
          '--auth-root-authentication-method=normal',
        ]
      : [node.release.bin, '--no-defaults', ...options, '--initialize-insecure'],
    as: node.as,
    cwd: mine,
  })
  // The server's own identity must not be shared by the copies.
  await rm(join(mine, 'auto.cnf'), { force: true })
  if (await exists(path)) await rm(mine, { recursive: true })
  else await run({ argv: ['mv', '-T', mine, path] })
}

/** A consistent copy of the running primary, with the position of its log beside it. */
export const copyLive = async (node: Node, into: string): Promise<void> => {
  const program = await tool(node.release, 'mariadb-backup', 'mariabackup')
  await privateFolder(into, node.as)
  const common = [`--target-dir=${into}`]
  await run({
    argv: [
      program,
      `--defaults-file=${join(node.dir, 'server.cnf')}`,
      ...['--backup', ...common, `--socket=${socketOf(node)}`, `--user=${root}`],
      `--password=${node.cluster.rootPassword}`,
    ],
    as: node.as,
    cwd: node.run,
  })
  await run({ argv: [program, '--prepare', ...common], as: node.as, cwd: node.run })
}

/** Where in the primary's log a copy was taken, as its tool noted it. */
export const positionOf = async (node: Node): Promise<string | undefined> => {
  for (const file of ['xtrabackup_binlog_info', 'mariadb_backup_binlog_info']) {
    const text = await readFile(join(node.data, file), 'utf8').catch(() => undefined)
    if (text !== undefined) return text.trim().split('\t')[2] ?? ''
  }
  return undefined
}
