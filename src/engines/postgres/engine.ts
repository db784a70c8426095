import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalEngine } from '../local/engine.ts'
import { remembered } from '../local/find.ts'
import {
  createDatabase,
  deleteDatabase,
  deleteUser,
  listDatabases,
  listUsers,
  putUser,
} from './accounts.ts'
import { answers, withSession } from './client.ts'
import { bootstrap, copyLive, initialise, restore } from './data.ts'
import { writeFiles } from './files.ts'
import { postgresMigration } from './migration.ts'
import { findPostgres } from './releases.ts'
import { applyConfig, readConfig } from './settings.ts'
import { upgrade } from './upgrade.ts'

/** PostgreSQL; `installed` is where `cove engines install` puts engines. */
export const postgresEngine = (installed: string): LocalEngine => {
  const releases = remembered(() => findPostgres(installed), 10_000)
  return {
    engine: 'pg',
    accounts: ['postgres', 'nobody'],
    stopSignal: 'SIGINT',
    graceMs: 10_000,
    maxNodes: 3,
    releases,
    missing:
      'PostgreSQL was not found: install the Debian package postgresql, or run "cove engines install pg".',
    initialise,
    replicate: (_node, primary, into) => copyLive(primary, into),
    configure: writeFiles,
    command: async (node) => ({
      argv: [join(node.release.bin, 'postgres'), '-D', node.data],
      cwd: node.data,
      as: node.as,
    }),
    ready: answers,
    bootstrap,
    promote: async (node) => {
      await withSession(node, (client) => client.query('SELECT pg_promote(true, 30)'))
      for (let tries = 0; tries < 100; tries++) {
        const recovering = await withSession(node, async (client) => {
          const { rows } = await client.query<{ yes: boolean }>('SELECT pg_is_in_recovery() AS yes')
          return rows[0]?.yes
        })
        if (!recovering) return
        await sleep(100)
      }
      throw new Error(`${node.name} did not leave recovery.`)
    },
    connections: (node) =>
      withSession(node, async (client) => {
        const { rows } = await client.query<{ n: number }>(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'cove'",
        )
        return rows[0]?.n ?? 0
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
    restore,
    upgrade,
    migration: postgresMigration(releases),
  }
}
