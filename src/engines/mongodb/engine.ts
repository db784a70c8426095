import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ApiError } from '#core/error.ts'
import type { Settings } from '../database.ts'
import type { LocalEngine, Node, Release } from '../local/engine.ts'
import { privateFolder } from '../local/files.ts'
import { isProgram, remembered } from '../local/find.ts'
import { answers, withSession } from '../postgres/client.ts'
import { bootstrap, copyLive, initialise, restore } from '../postgres/data.ts'
import { writeFiles } from '../postgres/files.ts'
import { findPostgres } from '../postgres/releases.ts'
import * as settings from '../postgres/settings.ts'
import {
  createDatabase,
  deleteDatabase,
  deleteUser,
  listDatabases,
  listUsers,
  putUser,
} from './accounts.ts'
import { documents } from './documents.ts'

/** FerretDB as `cove engines install mongodb` puts it, with a PostgreSQL to keep its documents. */
const find = async (installed: string): Promise<Release[]> => {
  const [name] = (await readdir(installed).catch(() => []))
    .filter((one) => /^ferretdb-[\d.]+$/.test(one))
    .toSorted()
    .toReversed()
  if (!name || !(await isProgram(join(installed, name, 'ferretdb')))) return []
  const [postgres] = await findPostgres(installed)
  if (!postgres) return []
  const semantic = name.replace('ferretdb-', '')
  const product = `FerretDB ${semantic} over ${postgres.product}`
  return [{ version: semantic.split('.')[0] ?? '', semantic, product, bin: join(installed, name) }]
}

/** Both programs live and die together: when one ends, the other is ended, and both start again. */
const both = `trap 'kill -TERM $ferret; wait $ferret; kill -INT $pg; wait $pg; exit 0' TERM
"$1" -D "$2" & pg=$!
until [ -S "$3" ]; do kill -0 $pg || exit 1; sleep 0.05; done
shift 3
"$@" & ferret=$!
wait -n
kill -TERM $ferret; kill -INT $pg; wait
exit 1`

const reachable = (node: Node) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect({ host: node.host, port: node.port, localAddress: node.host }, () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })

const reasons: Record<string, string> = {
  default_read_concern: 'FerretDB always reads what is committed',
  default_write_concern: 'FerretDB always waits for the commit',
  transaction_lifetime_limit_seconds: 'FerretDB has no transactions of several operations',
  verbosity: 'FerretDB takes its log level at its start only',
}

export const mongodbEngine = (installed: string): LocalEngine => {
  const inner = documents(() => findPostgres(installed))
  const on =
    <A extends unknown[], R>(work: (node: Node, ...rest: A) => Promise<R>) =>
    async (node: Node, ...rest: A): Promise<R> =>
      work(await inner(node), ...rest)
  const unsupported = async (): Promise<never> => {
    throw ApiError.invalid('FerretDB clusters cannot do this on this machine.')
  }
  return {
    engine: 'mongodb',
    accounts: ['postgres', 'nobody'],
    stopSignal: 'SIGTERM',
    graceMs: 15_000,
    maxNodes: 1,
    releases: remembered(() => find(installed), 10_000),
    missing:
      'No MongoDB-protocol server was found: run "cove engines install mongodb" for FerretDB (it needs Go and PostgreSQL).',
    initialise: on(initialise),
    replicate: unsupported,
    configure: async (node) => {
      const postgres = await inner(node)
      await writeFiles(postgres, postgres)
      await privateFolder(join(node.dir, 'state'), node.as)
    },
    command: async (node) => {
      const postgres = await inner(node)
      const socket = join(node.run, `.s.PGSQL.${node.port}`)
      const url = `postgres:///${postgres.cluster.database}?host=${encodeURIComponent(node.run)}&port=${node.port}`
      return {
        argv: [
          ...[
            'bash',
            '-c',
            both,
            'bash',
            join(postgres.release.bin, 'postgres'),
            node.data,
            socket,
          ],
          join(node.release.bin, 'ferretdb'),
          ...['--listen-addr=', `--listen-tls=${node.host}:${node.port}`],
          ...[`--listen-tls-cert-file=${node.tls.cert}`, `--listen-tls-key-file=${node.tls.key}`],
          ...[`--postgresql-url=${url}`, `--state-dir=${join(node.dir, 'state')}`],
          ...['--debug-addr=-', '--telemetry=disable', '--log-level=WARN', '--no-log-uuid'],
        ],
        cwd: node.dir,
        as: node.as,
      }
    },
    ready: async (node) => {
      await answers(await inner(node))
      await reachable(node)
    },
    bootstrap: on(bootstrap),
    promote: unsupported,
    connections: on((node) =>
      withSession(node, async (client) => {
        const { rows } = await client.query<{ n: number }>(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'cove'",
        )
        return rows[0]?.n ?? 0
      }),
    ),
    readConfig: async (node): Promise<Settings> => {
      const config = await settings.readConfig(await inner(node))
      return { slow_op_threshold_ms: config.log_min_duration_statement }
    },
    applyConfig: async (nodes, patch) => {
      const notEnforced = Object.fromEntries(
        Object.keys(patch).flatMap((name) => (reasons[name] ? [[name, reasons[name]]] : [])),
      )
      const slow = patch.slow_op_threshold_ms
      if (slow === undefined) return { restart: false, notEnforced }
      const inners = await Promise.all(nodes.map(inner))
      const applied = await settings.applyConfig(inners, { log_min_duration_statement: slow })
      return { restart: applied.restart, notEnforced }
    },
    listUsers: on(listUsers),
    putUser: on(putUser),
    deleteUser: on(deleteUser),
    listDatabases: on(listDatabases),
    createDatabase: on(createDatabase),
    deleteDatabase: on(deleteDatabase),
    backup: on(copyLive),
    restore,
    upgrade: unsupported,
    migration: {
      start: unsupported,
      status: async (_node, migration) => migration,
      stop: async () => undefined,
    },
  }
}
