import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection } from 'mysql2/promise'
import { ApiError, messageOf } from '#core/error.ts'
import type { MigrationSource } from '../database.ts'
import type { Migration, MigrationEngine, Node } from '../local/engine.ts'
import { run } from '../local/run.ts'
import { isSystem } from './accounts.ts'
import { root, rowsOf, socketOf, withSession } from './client.ts'
import { tool } from './releases.ts'

/** A dump of the source, then its binary log followed from where the dump was taken. */
export const mysqlMigration = (): MigrationEngine => {
  const copies = new Map<string, Promise<Migration>>()
  return {
    start: async (node, source) => {
      const plan = await inspect(source)
      const work = copy(node, source, plan).catch(
        (error: unknown): Migration => ({
          status: 'error',
          problem: messageOf(error),
          detail: {},
        }),
      )
      copies.set(node.cluster.id, work)
      return { status: 'running', detail: { copying: true, source } }
    },
    status: async (node, migration) => {
      if (migration.status !== 'running' && migration.status !== 'syncing') return migration
      if (migration.detail.copying) {
        const work = copies.get(node.cluster.id)
        if (!work)
          return {
            status: 'error',
            problem: 'Cove was restarted during the copy; start it again.',
            detail: {},
          }
        const now = await Promise.race([work, sleep(0).then(() => migration)])
        if (now.detail.copying || !now.detail.following) return now
        return following(node, now)
      }
      return following(node, migration)
    },
    stop: async (node, migration) => {
      await copies.get(node.cluster.id)
      copies.delete(node.cluster.id)
      if (!migration.detail.following && !migration.detail.copying) return
      await leave(node, migration.detail.source as MigrationSource)
    },
  }
}

const channel = "'cove'"

const following = (node: Node, migration: Migration): Promise<Migration> =>
  withSession(node, async (client) => {
    const [state] = await rowsOf(client, `SHOW SLAVE ${channel} STATUS`)
    const problem = String(state?.Last_SQL_Error || state?.Last_IO_Error || '')
    if (problem && state?.Slave_SQL_Running !== 'Yes')
      return { ...migration, status: 'error', problem }
    const near = state?.Slave_IO_Running === 'Yes' && state?.Seconds_Behind_Master !== null
    return { ...migration, status: near ? 'syncing' : 'running' }
  })

interface Plan {
  databases: string[]
  follows: boolean
}

const copy = async (node: Node, source: MigrationSource, plan: Plan): Promise<Migration> => {
  const file = join(node.run, 'migration.sql')
  const client = await tool(node.release, 'mariadb', 'mysql')
  const dump = await tool(node.release, 'mariadb-dump', 'mysqldump')
  await run({
    argv: [
      dump,
      '--no-defaults',
      ...[`--host=${source.host}`, `--port=${source.port}`, `--user=${source.username ?? ''}`],
      ...(source.ssl ? ['--ssl', '--skip-ssl-verify-server-cert'] : ['--skip-ssl']),
      ...['--protocol=tcp', '--single-transaction', '--routines', '--triggers', '--events'],
      ...(plan.follows ? ['--master-data=2'] : []),
      ...[`--result-file=${file}`, '--databases', ...plan.databases],
    ],
    as: node.as,
    cwd: node.run,
    env: { MYSQL_PWD: source.password ?? '' },
  })
  await run({
    argv: [
      'bash',
      '-c',
      '"$1" --no-defaults --socket="$2" --user="$3" < "$4"',
      'bash',
      client,
      socketOf(node),
      root,
      file,
    ],
    as: node.as,
    cwd: node.run,
    env: { MYSQL_PWD: node.cluster.rootPassword },
  })
  const position = plan.follows ? await positionIn(file) : undefined
  await rm(file)
  if (!position) return { status: 'done', detail: {} }
  await withSession(node, async (session) => {
    await session.query(
      `CHANGE MASTER ${channel} TO MASTER_HOST = ?, MASTER_PORT = ?, MASTER_USER = ?, MASTER_PASSWORD = ?,
       MASTER_LOG_FILE = ?, MASTER_LOG_POS = ?, MASTER_SSL = ?, MASTER_SSL_VERIFY_SERVER_CERT = 0,
       MASTER_USE_GTID = no, MASTER_CONNECT_RETRY = 2`,
      [
        ...[source.host, source.port, source.username ?? '', source.password ?? ''],
        ...[position.file, position.at, source.ssl ? 1 : 0],
      ],
    )
    const ignored = ['mysql.%', 'sys.%', ...source.ignore.map((name) => `${name}.%`)].join(',')
    await session.query(`SET GLOBAL cove.replicate_wild_ignore_table = ?`, [ignored])
    await session.query(`START SLAVE ${channel}`)
  })
  return { status: 'running', detail: { following: true, source } }
}

/** The dump says in a comment near its head where in the log it was taken. */
const positionIn = async (file: string) => {
  const lines = createInterface({ input: createReadStream(file) })
  try {
    for await (const line of lines) {
      const found = /MASTER_LOG_FILE='([^']+)', MASTER_LOG_POS=(\d+)/.exec(line)
      if (found) return { file: found[1] ?? '', at: Number(found[2]) }
      if (line.startsWith('CREATE TABLE')) break
    }
  } finally {
    lines.close()
  }
  throw new Error('The dump does not say where in the log of the source it was taken.')
}

const inspect = (source: MigrationSource): Promise<Plan> =>
  withSource(source, async (client) => {
    const rows = await rowsOf(client, 'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA')
    const databases = rows
      .map((row) => String(row.name))
      .filter((name) => !isSystem(name) && !source.ignore.includes(name))
    const [log] = await rowsOf(client, "SHOW GLOBAL VARIABLES LIKE 'log_bin'")
    return { databases, follows: log?.Value === 'ON' }
  }).catch((error: unknown) => {
    throw ApiError.invalid(
      `source ${source.host}:${source.port} cannot be migrated from: ${messageOf(error) || 'it does not answer'}.`,
    )
  })

const withSource = async <T>(
  source: MigrationSource,
  work: (client: Connection) => Promise<T>,
): Promise<T> => {
  const client = await createConnection({
    host: source.host,
    port: source.port,
    user: source.username ?? '',
    password: source.password ?? '',
    connectTimeout: 5000,
    ...(source.ssl ? { ssl: { rejectUnauthorized: false } } : {}),
  })
  client.on('error', () => undefined)
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}

/** Wait until all that the source had written when asked has arrived, then let go of it. */
const leave = async (node: Node, source: MigrationSource) => {
  const end = await withSource(
    source,
    async (client) => (await rowsOf(client, 'SHOW MASTER STATUS'))[0],
  ).catch(() => undefined)
  await withSession(node, async (client) => {
    const [state] = await rowsOf(client, `SHOW SLAVE ${channel} STATUS`)
    if (!state) return
    if (end)
      await client.query("SELECT MASTER_POS_WAIT(?, ?, 10, 'cove')", [end.File, end.Position])
    await client.query(`STOP SLAVE ${channel}`)
    await client.query(`RESET SLAVE ${channel} ALL`)
  })
}
