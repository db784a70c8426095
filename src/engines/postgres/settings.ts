import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, messageOf } from '#core/error.ts'
import type { Settings } from '../database.ts'
import type { Applied, Node } from '../local/engine.ts'
import { literal, quoted, withSession } from './client.ts'

/** Settings whose unit or name differs from the server's; every other one is the server's own. */
interface Mapping {
  name: string
  write(value: unknown, node: Node): string
  /** From the server's value in its own unit. */
  read(value: string, node: Node): unknown
}

const scaled = (name: string, unit: string, toApi: number, fromApi = 1): Mapping => ({
  name,
  write: (value) => `${Number(value) * fromApi}${unit}`,
  read: (value) => Number(value) * toApi,
})

const mappings: Record<string, Mapping> = {
  bgwriter_flush_after: scaled('bgwriter_flush_after', 'kB', 8),
  max_stack_depth: scaled('max_stack_depth', 'kB', 1024, 1 / 1024),
  work_mem: scaled('work_mem', 'MB', 1 / 1024),
  shared_buffers_percentage: {
    name: 'shared_buffers',
    write: (value, node) =>
      `${Math.max(16, Math.floor((node.cluster.memoryMib * Number(value)) / 100))}MB`,
    read: (value, node) => Math.round((Number(value) * 8 * 100) / 1024 / node.cluster.memoryMib),
  },
  synchronous_replication: {
    name: 'synchronous_standby_names',
    write: (value) => (value === 'quorum' ? 'ANY 1 (*)' : ''),
    read: (value) => (value === '' ? 'off' : 'quorum'),
  },
  log_error_verbosity: {
    name: 'log_error_verbosity',
    write: String,
    read: (value) => value.toUpperCase(),
  },
  timezone: { name: 'TimeZone', write: String, read: (value) => value },
}

/** Settings of programs that do not run beside this PostgreSQL. */
const foreign: Record<string, string> = {
  pgbouncer: 'there is no PgBouncer in front of this cluster',
  timescaledb: 'the TimescaleDB extension is not installed',
  stat_monitor_enable: 'the pg_stat_monitor extension is not installed',
  'pg_partman_bgw.role': 'the pg_partman extension is not installed',
  'pg_partman_bgw.interval': 'the pg_partman extension is not installed',
  max_failover_replication_time_lag: 'a replica takes over whatever its lag',
}

const texts = new Set(['track_commit_timestamp', 'track_io_timing'])

const own = [
  ...['freeze_max_age', 'max_workers', 'naptime', 'vacuum_threshold', 'analyze_threshold'],
  ...['vacuum_scale_factor', 'analyze_scale_factor', 'vacuum_cost_delay', 'vacuum_cost_limit'],
].map((name) => `autovacuum_${name}`)

/** What is read back: the server's own settings by their names, and those above. */
const readable = [
  ...own,
  ...['bgwriter_delay', 'bgwriter_lru_maxpages', 'bgwriter_lru_multiplier', 'deadlock_timeout'],
  ...['default_toast_compression', 'idle_in_transaction_session_timeout', 'jit'],
  ...['log_autovacuum_min_duration', 'log_line_prefix', 'log_min_duration_statement'],
  ...['max_connections', 'max_files_per_process', 'max_prepared_transactions'],
  ...['max_pred_locks_per_transaction', 'max_locks_per_transaction', 'max_slot_wal_keep_size'],
  ...['max_standby_archive_delay', 'max_standby_streaming_delay', 'max_replication_slots'],
  ...['max_logical_replication_workers', 'max_parallel_workers', 'max_worker_processes'],
  ...['max_parallel_workers_per_gather', 'max_wal_senders', 'pg_stat_statements.track'],
  ...['temp_file_limit', 'track_activity_query_size', 'track_commit_timestamp'],
  ...['track_functions', 'track_io_timing', 'wal_sender_timeout', 'wal_writer_delay'],
  ...Object.keys(mappings),
]

interface Row {
  name: string
  setting: string
  vartype: string
}

export const readConfig = (node: Node): Promise<Settings> =>
  withSession(node, async (client) => {
    const names = readable.map((name) => mappings[name]?.name ?? name)
    const { rows } = await client.query<Row>(
      'SELECT name, setting, vartype FROM pg_settings WHERE name = ANY($1)',
      [names],
    )
    const found = new Map(rows.map((row) => [row.name, row]))
    return Object.fromEntries(
      readable.flatMap((name) => {
        const row = found.get(mappings[name]?.name ?? name)
        if (!row) return []
        const mapping = mappings[name]
        return [[name, mapping ? mapping.read(row.setting, node) : natural(name, row)]]
      }),
    )
  })

const natural = (name: string, { setting, vartype }: Row): unknown => {
  if (vartype === 'integer' || vartype === 'real') return Number(setting)
  if (vartype === 'bool' && !texts.has(name)) return setting === 'on'
  return setting
}

/** Written with ALTER SYSTEM on every node, in force by a reload where the server allows it. */
export const applyConfig = async (nodes: readonly Node[], patch: Settings): Promise<Applied> => {
  const notEnforced = Object.fromEntries(
    Object.keys(patch).flatMap((name) => (foreign[name] ? [[name, foreign[name]]] : [])),
  )
  const wanted = Object.entries(patch).filter(([name]) => !foreign[name])
  const restarts = await Promise.all(nodes.map((node) => alter(node, wanted)))
  return { restart: restarts.some(Boolean), notEnforced }
}

const alter = (node: Node, wanted: [string, unknown][]): Promise<boolean> =>
  withSession(node, async (client) => {
    const done: string[] = []
    for (const [name, value] of wanted) {
      try {
        await client.query(statement(node, name, value))
        done.push(name)
      } catch (error) {
        // All or nothing: what was written before goes back to what it was.
        for (const before of done)
          await client.query(statement(node, before, node.cluster.settings[before] ?? null))
        throw ApiError.invalid(`config.${name} was refused by the server: ${messageOf(error)}.`)
      }
    }
    const loaded = await loadTime(node)
    await client.query('SELECT pg_reload_conf()')
    for (let tries = 0; tries < 100 && (await loadTime(node)) === loaded; tries++) await sleep(20)
    const { rows } = await client.query('SELECT 1 FROM pg_settings WHERE pending_restart LIMIT 1')
    return rows.length > 0
  })

const loadTime = (node: Node): Promise<string> =>
  withSession(node, async (client) => {
    const { rows } = await client.query<{ at: string }>('SELECT pg_conf_load_time()::text AS at')
    return rows[0]?.at ?? ''
  })

const statement = (node: Node, name: string, value: unknown): string => {
  const mapping = mappings[name]
  const setting = quotedName(mapping?.name ?? name)
  if (value === null) return `ALTER SYSTEM RESET ${setting}`
  const text = mapping ? mapping.write(value, node) : String(value)
  return `ALTER SYSTEM SET ${setting} = ${literal(text)}`
}

const quotedName = (name: string) => name.split('.').map(quoted).join('.')
