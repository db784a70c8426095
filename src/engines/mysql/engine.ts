import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '#core/error.ts'
import type { LocalEngine, Node } from '../local/engine.ts'
import { copyTree } from '../local/files.ts'
import { remembered } from '../local/find.ts'
import {
  bootstrap,
  createDatabase,
  deleteDatabase,
  deleteUser,
  listDatabases,
  listUsers,
  putUser,
  replicator,
  wrongPassword,
} from './accounts.ts'
import { rowsOf, withSession } from './client.ts'
import { copyLive, initialise, positionOf, writeFiles } from './data.ts'
import { mysqlMigration } from './migration.ts'
import { findMysql } from './releases.ts'
import { applyConfig, readConfig } from './settings.ts'

/** Whom each replica follows is told to it at its first start, and again after a take-over. */
const follow = (node: Node) =>
  withSession(node, async (client) => {
    const [state] = await rowsOf(client, 'SHOW SLAVE STATUS')
    const primaryPort = node.port - node.cluster.nodes.indexOf(node.name)
    if (!state) {
      const position = await positionOf(node)
      await client.query('SET GLOBAL gtid_slave_pos = ?', [position ?? ''])
      await client.query(
        `CHANGE MASTER TO MASTER_HOST = ?, MASTER_PORT = ?, MASTER_USER = ?, MASTER_PASSWORD = ?,
         MASTER_SSL = 1, MASTER_SSL_CA = ?, MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
        [node.host, primaryPort, replicator, node.cluster.rootPassword, node.tls.ca],
      )
      await client.query('START SLAVE')
    }
    const [now] = await rowsOf(client, 'SHOW SLAVE STATUS')
    if (now?.Slave_IO_Running !== 'Yes' || now?.Slave_SQL_Running !== 'Yes')
      throw new Error(String(now?.Last_Error || now?.Last_IO_Error || 'The replica is starting.'))
  })

export const mysqlEngine = (): LocalEngine => ({
  engine: 'mysql',
  accounts: ['mysql', 'nobody'],
  stopSignal: 'SIGTERM',
  graceMs: 15_000,
  maxNodes: 3,
  releases: remembered(findMysql, 10_000),
  missing: 'Neither MySQL nor MariaDB was found: install the Debian package mariadb-server-core.',
  initialise,
  replicate: (_node, primary, into) => copyLive(primary, into),
  configure: writeFiles,
  command: async (node) => ({
    argv: [node.release.bin, `--defaults-file=${join(node.dir, 'server.cnf')}`],
    cwd: node.data,
    as: node.as,
  }),
  ready: async (node) => {
    await withSession(node, (client) => client.query('SELECT 1')).catch((error: unknown) => {
      // Before its first claim a new cluster has no password yet: an answer is enough.
      if ((error as { code?: string }).code !== wrongPassword) throw error
    })
    if (node.role === 'replica') await follow(node)
  },
  bootstrap,
  promote: (node) =>
    withSession(node, async (client) => {
      await client.query('STOP SLAVE')
      await client.query('RESET SLAVE ALL')
      await client.query('SET GLOBAL read_only = OFF')
    }),
  connections: (node) =>
    withSession(node, async (client) => {
      const [row] = await rowsOf(client, "SHOW GLOBAL STATUS LIKE 'Threads_connected'")
      return Number(row?.Value ?? 1) - 1
    }),
  readConfig,
  applyConfig,
  listUsers,
  putUser,
  deleteUser,
  listDatabases,
  createDatabase,
  deleteDatabase,
  backup: copyLive,
  restore: async (_node, from, into) => {
    await copyTree(from, into)
    for (const name of ['xtrabackup_binlog_info', 'mariadb_backup_binlog_info'])
      await rm(join(into, name), { force: true })
  },
  upgrade: async (from, to) => {
    throw ApiError.invalid(
      `${from.release.product} cannot be upgraded to ${to.release.product} on this machine.`,
    )
  },
  migration: mysqlMigration(),
})
