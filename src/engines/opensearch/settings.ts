import type { Settings } from '../database.ts'
import type { Applied, Node } from '../local/engine.ts'
import { ask } from './client.ts'

interface Mapping {
  name: string
  /** Taken while it runs, or at its start only. */
  live: boolean
  unit?: string
}

const live = (name: string, unit?: string): Mapping => ({
  name,
  live: true,
  ...(unit ? { unit } : {}),
})
const fixed = (name: string, unit?: string): Mapping => ({
  name,
  live: false,
  ...(unit ? { unit } : {}),
})

const pools = ['search', 'search_throttled', 'get', 'analyze', 'write', 'force_merge']

const mappings: Record<string, Mapping> = {
  action_auto_create_index_enabled: live('action.auto_create_index'),
  action_destructive_requires_name: live('action.destructive_requires_name'),
  cluster_max_shards_per_node: live('cluster.max_shards_per_node'),
  cluster_routing_allocation_node_concurrent_recoveries: live(
    'cluster.routing.allocation.node_concurrent_recoveries',
  ),
  http_max_content_length_bytes: fixed('http.max_content_length', 'b'),
  http_max_header_size_bytes: fixed('http.max_header_size', 'b'),
  http_max_initial_line_length_bytes: fixed('http.max_initial_line_length', 'b'),
  indices_fielddata_cache_size_percentage: fixed('indices.fielddata.cache.size', '%'),
  indices_memory_index_buffer_size_percentage: fixed('indices.memory.index_buffer_size', '%'),
  indices_memory_max_index_buffer_size_mb: fixed('indices.memory.max_index_buffer_size', 'mb'),
  indices_memory_min_index_buffer_size_mb: fixed('indices.memory.min_index_buffer_size', 'mb'),
  indices_queries_cache_size_percentage: fixed('indices.queries.cache.size', '%'),
  indices_query_bool_max_clause_count: fixed('indices.query.bool.max_clause_count'),
  indices_recovery_max_concurrent_file_chunks: live('indices.recovery.max_concurrent_file_chunks'),
  indices_recovery_max_mb_per_sec: live('indices.recovery.max_bytes_per_sec', 'mb'),
  override_main_response_version: live('compatibility.override_main_response_version'),
  script_max_compilations_rate: live('script.max_compilations_rate'),
  search_max_buckets: live('search.max_buckets'),
  ...Object.fromEntries(
    pools.flatMap((pool) => [
      [`thread_pool_${pool}_size`, fixed(`thread_pool.${pool}.size`)],
      [`thread_pool_${pool}_queue_size`, fixed(`thread_pool.${pool}.queue_size`)],
    ]),
  ),
}

const absent = 'the plugin it belongs to is not installed'

/** Lines of the server's file. */
export const fileLines = (settings: Settings): string[] =>
  Object.entries(settings).flatMap(([field, value]) => {
    const mapping = mappings[field]
    return mapping && !mapping.live ? [`${mapping.name}: ${value}${mapping.unit ?? ''}`] : []
  })

export const readConfig = async (node: Node): Promise<Settings> => {
  const found = await ask(
    node,
    'GET',
    '/_cluster/settings?include_defaults=true&flat_settings=true',
  )
  const { defaults, persistent, transient } = found as Record<string, Record<string, unknown>>
  const all: Record<string, unknown> = { ...defaults, ...persistent, ...transient }
  return Object.fromEntries(
    Object.entries(mappings).flatMap(([field, { name, unit }]) => {
      const value = all[name]
      return value === undefined || Array.isArray(value)
        ? []
        : [[field, natural(String(value), unit)]]
    }),
  )
}

const sizes: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

const natural = (text: string, unit: string | undefined): unknown => {
  if (text === 'true' || text === 'false') return text === 'true'
  const [, digits, suffix = ''] = /^(-?[\d.]+)([a-z%]*)$/.exec(text) ?? []
  if (digits === undefined) return text
  const scale = unit && sizes[suffix] && sizes[unit] ? sizes[suffix] / sizes[unit] : 1
  return Number(digits) * scale
}

export const applyConfig = async (nodes: readonly Node[], patch: Settings): Promise<Applied> => {
  const [node] = nodes
  const notEnforced: Record<string, string> = {}
  const persistent: Settings = {}
  let restart = false
  for (const [field, value] of Object.entries(patch)) {
    const mapping = mappings[field]
    if (!mapping) notEnforced[field] = absent
    else if (!mapping.live) restart = true
    else
      persistent[mapping.name] =
        value === null ? null : mapping.unit ? `${value}${mapping.unit}` : value
  }
  if (node && Object.keys(persistent).length > 0)
    await ask(node, 'PUT', '/_cluster/settings', { persistent })
  return { restart, notEnforced }
}
