import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ApiError, messageOf } from '#core/error.ts'
import type { MigrationSource } from '../database.ts'
import type { Migration, MigrationEngine, Node, Release } from '../local/engine.ts'
import { isProgram } from '../local/find.ts'
import { run } from '../local/run.ts'
import { createDatabase, listDatabases } from './accounts.ts'
import { literal, root, withSession } from './client.ts'

/** What is left on the source while it is followed, all named after the migration. */
interface Following {
  name: string
  source: MigrationSource
  databases: { name: string; identities: string[] }[]
}

/** By logical replication where the source allows it, otherwise by a dump. */
export const postgresMigration = (releases: () => Promise<Release[]>): MigrationEngine => {
  const dumps = new Map<string, Promise<Migration>>()

  const newestTools = async (): Promise<string> => {
    for (const release of (await releases()).toReversed())
      if (await isProgram(join(release.bin, 'pg_dump'))) return release.bin
    throw ApiError.unavailable('pg_dump was not found: install the Debian package postgresql.')
  }

  const copy = async (node: Node, source: MigrationSource, database: string, what: string[]) => {
    const tools = await newestTools()
    await run({
      argv: [
        'bash',
        '-o',
        'pipefail',
        '-c',
        // Comments and extensions that only a superuser may touch are the server's own.
        `"$1/pg_dump" -d "$2" --no-owner --no-acl --no-publications --no-subscriptions "\${@:4}" |
         PGPASSWORD="$TARGET" PGSSLMODE=disable "$1/psql" -X -q -v ON_ERROR_STOP=1 -o /dev/null -d "$3"`,
        'bash',
        tools,
        conninfo(source, database),
        `host=${node.run} port=${node.port} user=${root} dbname=${conninfoText(database)} options='-c role=${node.cluster.admin.name}'`,
        ...what,
      ],
      as: node.as,
      cwd: node.run,
      env: { PGPASSWORD: source.password ?? '', TARGET: node.cluster.rootPassword },
    })
  }

  const prepare = async (node: Node, databases: string[]) => {
    const present = await listDatabases(node)
    for (const name of databases) if (!present.includes(name)) await createDatabase(node, name)
  }

  const dump = async (node: Node, source: MigrationSource, databases: string[]) => {
    for (const database of databases) await copy(node, source, database, [])
    return { status: 'done', detail: {} } satisfies Migration
  }

  const follow = async (node: Node, following: Following) => {
    const { name, source } = following
    for (const database of following.databases) {
      await copy(node, source, database.name, ['--schema-only'])
      await withSource(source, database.name, async (client) => {
        const { rows } = await client.query<{ table: string; keyless: boolean }>(tables)
        for (const row of rows.filter((one) => one.keyless)) {
          await client.query(`ALTER TABLE ${row.table} REPLICA IDENTITY FULL`)
          database.identities.push(row.table)
        }
        const list = rows.map((row) => row.table).join(', ')
        await client.query(`CREATE PUBLICATION ${name}${list ? ` FOR TABLE ${list}` : ''}`)
      })
      await withSession(
        node,
        (client) =>
          client.query(
            `CREATE SUBSCRIPTION ${name} CONNECTION ${literal(
              `${conninfo(source, database.name)} password=${conninfoText(source.password ?? '')}`,
            )} PUBLICATION ${name} WITH (slot_name = '${name}_${databaseTag(database.name)}')`,
          ),
        database.name,
      )
    }
  }

  const leave = async (node: Node, { name, source, databases }: Following) => {
    for (const database of databases) {
      await caughtUp(source, `${name}_${databaseTag(database.name)}`)
      await withSource(source, database.name, async (client) => {
        const { rows } = await client.query<{ sequence: string; value: string | null }>(sequences)
        await withSession(
          node,
          async (target) => {
            for (const row of rows)
              if (row.value !== null)
                await target.query('SELECT setval($1::regclass, $2::bigint)', [
                  row.sequence,
                  row.value,
                ])
          },
          database.name,
        )
      }).catch(() => undefined)
      await withSession(node, (target) => dropSubscription(target, name), database.name)
      // The source may be gone for good; what is still there is cleaned.
      await withSource(source, database.name, async (client) => {
        await client.query(`DROP PUBLICATION IF EXISTS ${name}`)
        for (const table of database.identities)
          await client.query(`ALTER TABLE IF EXISTS ${table} REPLICA IDENTITY DEFAULT`)
        await client.query(
          'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name LIKE $1 AND NOT active',
          [`${name}\\_${databaseTag(database.name)}%`],
        )
      }).catch(() => undefined)
    }
  }

  return {
    start: async (node, source) => {
      const plan = await inspect(source)
      await prepare(node, plan.databases)
      const name = `cove_${randomBytes(6).toString('hex')}`
      if (!plan.logical) {
        const work = dump(node, source, plan.databases).catch(
          (error: unknown): Migration => ({
            status: 'error',
            problem: messageOf(error),
            detail: {},
          }),
        )
        dumps.set(node.cluster.id, work)
        return { status: 'running', detail: { dump: true } }
      }
      const following: Following = {
        name,
        source,
        databases: plan.databases.map((database) => ({ name: database, identities: [] })),
      }
      try {
        await follow(node, following)
      } catch (error) {
        await leave(node, following)
        throw ApiError.invalid(`The source could not be followed: ${messageOf(error)}`)
      }
      return { status: 'running', detail: { following } }
    },
    status: async (node, migration) => {
      if (migration.status !== 'running' && migration.status !== 'syncing') return migration
      if (migration.detail.dump) {
        const work = dumps.get(node.cluster.id)
        if (!work)
          return {
            status: 'error',
            problem: 'Cove was restarted during the copy; start it again.',
            detail: {},
          }
        return Promise.race([work, sleep(0).then(() => migration)])
      }
      const { databases, name } = migration.detail.following as Following
      const states = await Promise.all(
        databases.map((database) =>
          withSession(node, (client) => standing(client, name), database.name),
        ),
      )
      const problem = states.find((state) => state.errors > 2)
      if (problem)
        return {
          ...migration,
          status: 'error',
          problem: 'The changes of the source could not be applied; see the logs of the cluster.',
        }
      return { ...migration, status: states.every((state) => state.synced) ? 'syncing' : 'running' }
    },
    stop: async (node, migration) => {
      if (migration.detail.following) await leave(node, migration.detail.following as Following)
      await dumps.get(node.cluster.id)
      dumps.delete(node.cluster.id)
    },
  }
}

/** Tables of the customer, and whether a change to a row can be told apart. */
const tables = `SELECT format('%I.%I', n.nspname, c.relname) AS table,
  c.relreplident = 'd' AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary) AS keyless
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'`

const sequences = `SELECT format('%I.%I', schemaname, sequencename) AS sequence, last_value::text AS value FROM pg_sequences`

const databaseTag = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '_')
    .slice(0, 40)

const standing = async (client: pg.Client, name: string) => {
  const { rows } = await client.query<{ synced: boolean; errors: number }>(
    `SELECT NOT EXISTS (SELECT 1 FROM pg_subscription_rel r WHERE r.srsubid = s.oid AND r.srsubstate NOT IN ('r', 's')) AS synced,
       coalesce((SELECT (apply_error_count + sync_error_count)::int FROM pg_stat_subscription_stats t WHERE t.subid = s.oid), 0) AS errors
     FROM pg_subscription s WHERE s.subname = $1`,
    [name],
  )
  return rows[0] ?? { synced: false, errors: 0 }
}

const dropSubscription = async (client: pg.Client, name: string) => {
  const { rowCount } = await client.query('SELECT 1 FROM pg_subscription WHERE subname = $1', [
    name,
  ])
  if (!rowCount) return
  await client.query(`ALTER SUBSCRIPTION ${name} DISABLE`)
  await client.query(`DROP SUBSCRIPTION ${name}`).catch(async () => {
    // The source does not answer: let go of its slot and end the subscription here.
    await client.query(`ALTER SUBSCRIPTION ${name} SET (slot_name = NONE)`)
    await client.query(`DROP SUBSCRIPTION ${name}`)
  })
}

/** All that the source had written when asked has arrived; or ten seconds have passed. */
const caughtUp = (source: MigrationSource, slot: string): Promise<void> =>
  withSource(source, source.database ?? 'postgres', async (client) => {
    const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn')
    for (let tries = 0; tries < 100; tries++) {
      const { rowCount } = await client.query(
        'SELECT 1 FROM pg_replication_slots WHERE slot_name = $1 AND confirmed_flush_lsn < $2::pg_lsn',
        [slot, rows[0]?.lsn],
      )
      if (!rowCount) return
      await sleep(100)
    }
  }).catch(() => undefined)

const inspect = async (source: MigrationSource) => {
  const first = source.database ?? 'postgres'
  return withSource(source, first, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE NOT datistemplate AND datallowconn AND has_database_privilege(oid, 'CONNECT')",
    )
    const able = await client.query<{ able: boolean }>(
      "SELECT current_setting('wal_level') = 'logical' AND (rolsuper OR rolreplication) AS able FROM pg_roles WHERE rolname = current_user",
    )
    const databases = rows
      .map((row) => row.datname)
      .filter((name) => !source.ignore.includes(name) && (name !== 'postgres' || name === first))
      .filter((name) => name !== 'postgres' || source.database === 'postgres')
    return { databases, logical: able.rows[0]?.able ?? false }
  }).catch((error: unknown) => {
    throw ApiError.invalid(
      `source ${source.host}:${source.port} cannot be migrated from: ${messageOf(error) || 'it does not answer'}.`,
    )
  })
}

const withSource = async <T>(
  source: MigrationSource,
  database: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({
    host: source.host,
    port: source.port,
    user: source.username,
    password: source.password,
    database,
    ssl: source.ssl ? { rejectUnauthorized: false } : false,
    connectionTimeoutMillis: 5000,
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const conninfoText = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`
const conninfo = (source: MigrationSource, database: string) =>
  [
    `host=${conninfoText(source.host)}`,
    `port=${source.port}`,
    `user=${conninfoText(source.username ?? '')}`,
    `dbname=${conninfoText(database)}`,
    `sslmode=${source.ssl ? 'require' : 'disable'}`,
    'connect_timeout=5',
  ].join(' ')
