import kafkajs from 'kafkajs'
import { ApiError, messageOf } from '#core/error.ts'
import type { Settings } from '../database.ts'
import type { Applied, Node } from '../local/engine.ts'
import { withAdmin } from './client.ts'

/** Settings of programs that do not run beside these brokers. */
const foreign: Record<string, string> = { schema_registry: 'there is no schema registry here' }

/** Names differ from the broker's by their dots alone, but for these. */
const nameOf = (field: string) => field.replaceAll('_', '.')

/** What a broker reads at its start. */
export const properties = (settings: Settings): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([field, value]) =>
      foreign[field] ? [] : [[nameOf(field), String(value)]],
    ),
  )

const fields = [
  'auto_create_topics_enable compression_type connections_max_idle_ms default_replication_factor',
  'group_initial_rebalance_delay_ms group_max_session_timeout_ms group_min_session_timeout_ms',
  'log_cleaner_delete_retention_ms log_cleaner_max_compaction_lag_ms',
  'log_cleaner_min_cleanable_ratio log_cleaner_min_compaction_lag_ms log_cleanup_policy',
  'log_flush_interval_messages log_flush_interval_ms log_index_interval_bytes',
  'log_index_size_max_bytes log_message_downconversion_enable',
  'log_message_timestamp_difference_max_ms log_message_timestamp_type log_preallocate',
  'log_retention_bytes log_retention_hours log_retention_ms log_roll_jitter_ms log_roll_ms',
  'log_segment_bytes log_segment_delete_delay_ms max_connections_per_ip',
  'max_incremental_fetch_session_cache_slots message_max_bytes min_insync_replicas',
  'num_partitions offsets_retention_minutes producer_purgatory_purge_interval_requests',
  'replica_fetch_max_bytes replica_fetch_response_max_bytes socket_request_max_bytes',
  'transaction_remove_expired_transaction_cleanup_interval_ms transaction_state_log_segment_bytes',
].flatMap((line) => line.split(' '))

interface Entry {
  value: string
  readOnly: boolean
}

/** The number a broker goes by. */
export const brokerOf = (node: Node) => String(Number(node.name.split('-')[1]) + 1)

const brokerEntries = (node: Node): Promise<Map<string, Entry>> =>
  withAdmin(node, async (admin) => {
    const name = brokerOf(node)
    const { resources } = await admin.describeConfigs({
      resources: [{ type: kafkajs.ConfigResourceTypes.BROKER, name }],
      includeSynonyms: false,
    })
    return new Map(
      (resources[0]?.configEntries ?? []).map((entry) => [
        entry.configName,
        { value: entry.configValue, readOnly: entry.readOnly },
      ]),
    )
  })

/** Text of the broker as the JSON value it stands for. */
export const natural = (value: string): unknown => {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

export const readConfig = async (node: Node): Promise<Settings> => {
  const found = await brokerEntries(node)
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = found.get(nameOf(field))?.value
      return value === undefined || value === null ? [] : [[field, natural(value)]]
    }),
  )
}

/** In force at once where brokers take it while they run; the rest by their next start. */
export const applyConfig = async (nodes: readonly Node[], patch: Settings): Promise<Applied> => {
  const [node] = nodes
  if (!node) return { restart: false, notEnforced: {} }
  const found = await brokerEntries(node)
  const notEnforced: Record<string, string> = {}
  const wanted = { ...node.cluster.settings, ...patch }
  let restart = false
  for (const field of Object.keys(patch)) {
    const entry = found.get(nameOf(field))
    if (foreign[field]) notEnforced[field] = foreign[field]
    else if (!entry) notEnforced[field] = `${node.release.product} has no such setting`
    else if (entry.readOnly || patch[field] === null) restart = true
  }
  const live = Object.entries(wanted).flatMap(([field, value]) => {
    const entry = found.get(nameOf(field))
    return !entry || entry.readOnly || value === null
      ? []
      : [{ name: nameOf(field), value: String(value) }]
  })
  await withAdmin(node, (admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: nodes.map((one) => ({
        type: kafkajs.ConfigResourceTypes.BROKER,
        name: brokerOf(one),
        configEntries: live,
      })),
    }),
  ).catch((error: unknown) => {
    throw ApiError.invalid(`config was refused by the brokers: ${messageOf(error)}`)
  })
  return { restart, notEnforced }
}
