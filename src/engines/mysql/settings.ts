import { ApiError, messageOf } from '#core/error.ts'
import type { Settings } from '../database.ts'
import type { Applied, Node } from '../local/engine.ts'
import { rowsOf, withSession } from './client.ts'

/** Settings whose name or unit differs from the server's variable. */
const renamed: Record<
  string,
  { name: string; write(value: unknown): unknown; read(value: unknown): unknown }
> = {
  binlog_retention_period: {
    name: 'binlog_expire_logs_seconds',
    write: (value) => value,
    read: Number,
  },
  default_time_zone: { name: 'time_zone', write: (value) => value, read: (value) => value },
  sql_require_primary_key: {
    name: 'innodb_force_primary_key',
    write: (value) => value,
    read: (value) => value === 'ON',
  },
  max_execution_time: {
    name: 'max_statement_time',
    write: (value) => Number(value) / 1000,
    read: (value) => Number(value) * 1000,
  },
}

const own = [
  'automatic_sp_privileges connect_timeout div_precision_increment end_markers_in_json',
  'eq_range_index_dive_limit group_concat_max_len information_schema_stats_expiry',
  'innodb_change_buffer_max_size innodb_flush_neighbors innodb_ft_enable_stopword',
  'innodb_ft_max_token_size innodb_ft_min_token_size innodb_ft_num_word_optimize',
  'innodb_ft_result_cache_limit innodb_ft_server_stopword_table innodb_ft_user_stopword_table',
  'innodb_lock_wait_timeout innodb_log_buffer_size innodb_online_alter_log_max_size',
  'innodb_optimize_fulltext_only innodb_print_all_deadlocks innodb_read_io_threads',
  'innodb_rollback_on_timeout innodb_thread_concurrency innodb_write_io_threads',
  'interactive_timeout internal_tmp_mem_storage_engine log_output long_query_time',
  'max_allowed_packet max_heap_table_size max_seeks_for_key net_buffer_length net_read_timeout',
  'net_write_timeout optimizer_prune_level optimizer_search_depth optimizer_switch slow_query_log',
  'sort_buffer_size sql_mode tmp_table_size wait_timeout windowing_use_high_precision',
].flatMap((line) => line.split(' '))

const variableOf = (field: string) => renamed[field]?.name ?? field
const fields = [...own, ...Object.keys(renamed)]

interface Variable {
  value: string
  kind: string
  readOnly: boolean
}

const variables = (node: Node): Promise<Map<string, Variable>> =>
  withSession(node, async (client) => {
    const rows = await rowsOf(
      client,
      `SELECT lower(VARIABLE_NAME) AS name, GLOBAL_VALUE AS value, VARIABLE_TYPE AS kind, READ_ONLY AS fixed
       FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME IN (?)`,
      [fields.map(variableOf)],
    )
    return new Map(
      rows.map((row) => [
        String(row.name),
        { value: String(row.value ?? ''), kind: String(row.kind), readOnly: row.fixed === 'YES' },
      ]),
    )
  })

export const readConfig = async (node: Node): Promise<Settings> => {
  const found = await variables(node)
  return Object.fromEntries(
    fields.flatMap((field) => {
      const variable = found.get(variableOf(field))
      if (!variable) return []
      const special = renamed[field]
      return [[field, special ? special.read(variable.value) : natural(variable)]]
    }),
  )
}

const natural = ({ value, kind }: Variable): unknown => {
  if (kind === 'BOOLEAN') return value === 'ON'
  if (/INT|DOUBLE/.test(kind)) return Number(value)
  return value
}

/** Lines for the server's file; a variable it does not have is passed over. */
export const directives = (node: Node): string[] =>
  Object.entries(node.cluster.settings).flatMap(([field, value]) => {
    if (typeof value === 'object') return []
    const written = renamed[field]?.write(value) ?? value
    const name = field === 'default_time_zone' ? field : variableOf(field)
    return [
      `loose-${name.replaceAll('_', '-')}=${typeof written === 'boolean' ? (written ? 'ON' : 'OFF') : JSON.stringify(written)}`,
    ]
  })

export const applyConfig = async (nodes: readonly Node[], patch: Settings): Promise<Applied> => {
  const [primary] = nodes
  if (!primary) return { restart: false, notEnforced: {} }
  const found = await variables(primary)
  const product = primary.release.product
  const notEnforced: Record<string, string> = {}
  const live: [string, unknown][] = []
  let restart = false
  for (const [field, value] of Object.entries(patch)) {
    const variable = found.get(variableOf(field))
    const written = value === null ? 'DEFAULT' : (renamed[field]?.write(value) ?? value)
    if (!variable) notEnforced[field] = `${product} has no such setting`
    else if (field === 'log_output' && String(value).includes('INSIGHTS'))
      notEnforced[field] = `${product} has no such output`
    else if (variable.readOnly) restart = true
    else live.push([field, written])
  }
  for (const node of nodes) await setLive(node, live, found)
  return { restart, notEnforced }
}

const setLive = (node: Node, live: [string, unknown][], before: Map<string, Variable>) =>
  withSession(node, async (client) => {
    const done: string[] = []
    for (const [field, value] of live) {
      const name = variableOf(field)
      try {
        await client.query(`SET GLOBAL ${name} = ${value === 'DEFAULT' ? 'DEFAULT' : '?'}`, [value])
        done.push(name)
      } catch (error) {
        // All or nothing: what was set before goes back to what it was.
        for (const earlier of done) {
          const variable = before.get(earlier)
          await client.query(`SET GLOBAL ${earlier} = ?`, [variable ? natural(variable) : ''])
        }
        throw ApiError.invalid(`config.${field} was refused by the server: ${messageOf(error)}.`)
      }
    }
  })
