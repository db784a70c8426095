import { z } from 'zod'

/** What each engine lets one configure: type and range as data; tools, platform and docs derive from it. */
const int = (min: number, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max)
const num = (min: number, max: number) => z.number().min(min).max(max)
const flag = z.boolean()
const text = (max: number) => z.string().max(max)
const choice = <const T extends readonly string[]>(...of: T) => z.enum(of)

const int32 = 2_147_483_647
const uint32 = 4_294_967_295
const gib = 1_073_741_824
const backupTime = { backup_hour: int(0, 23), backup_minute: int(0, 59) }

const pgbouncer = z.strictObject({
  server_reset_query_always: flag,
  ignore_startup_parameters: z.array(choice('extra_float_digits', 'search_path')),
  min_pool_size: int(0, 10_000),
  server_lifetime: int(60, 86_400),
  server_idle_timeout: int(0, 86_400),
  autodb_pool_size: int(0, 10_000),
  autodb_pool_mode: choice('session', 'transaction', 'statement'),
  autodb_max_db_connections: int(0, int32),
  autodb_idle_timeout: int(0, 86_400),
})

const pg = z.strictObject({
  ...backupTime,
  autovacuum_freeze_max_age: int(200_000_000, 1_500_000_000),
  autovacuum_max_workers: int(1, 20),
  autovacuum_naptime: int(0, 86_400),
  autovacuum_vacuum_threshold: int(0, int32),
  autovacuum_analyze_threshold: int(0, int32),
  autovacuum_vacuum_scale_factor: num(0, 1),
  autovacuum_analyze_scale_factor: num(0, 1),
  autovacuum_vacuum_cost_delay: int(-1, 100),
  autovacuum_vacuum_cost_limit: int(-1, 10_000),
  bgwriter_delay: int(10, 10_000),
  bgwriter_flush_after: int(0, 2048),
  bgwriter_lru_maxpages: int(0, 1_073_741_823),
  bgwriter_lru_multiplier: num(0, 10),
  deadlock_timeout: int(500, 1_800_000),
  default_toast_compression: choice('lz4', 'pglz'),
  idle_in_transaction_session_timeout: int(0, 604_800_000),
  jit: flag,
  log_autovacuum_min_duration: int(-1, int32),
  log_error_verbosity: choice('TERSE', 'DEFAULT', 'VERBOSE'),
  log_line_prefix: choice(
    'pid=%p,user=%u,db=%d,app=%a,client=%h',
    '%m [%p] %q[user=%u,db=%d,app=%a]',
    '%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h',
  ),
  log_min_duration_statement: int(-1, 86_400_000),
  max_connections: int(25),
  max_failover_replication_time_lag: int(10),
  max_files_per_process: int(1000, 4096),
  max_prepared_transactions: int(0, 10_000),
  max_pred_locks_per_transaction: int(64, 640),
  max_locks_per_transaction: int(64, 6400),
  max_slot_wal_keep_size: int(-1, int32),
  max_stack_depth: int(2_097_152, 6_291_456),
  max_standby_archive_delay: int(1, 43_200_000),
  max_standby_streaming_delay: int(1, 43_200_000),
  max_replication_slots: int(8, 64),
  max_logical_replication_workers: int(4, 64),
  max_parallel_workers: int(0, 96),
  max_parallel_workers_per_gather: int(0, 96),
  max_worker_processes: int(8, 96),
  max_wal_senders: int(20, 64),
  'pg_partman_bgw.role': text(64).regex(/^[_A-Za-z0-9][-._A-Za-z0-9]{0,63}$/),
  'pg_partman_bgw.interval': int(3600, 604_800),
  'pg_stat_statements.track': choice('all', 'top', 'none'),
  pgbouncer: pgbouncer.partial(),
  shared_buffers_percentage: num(20, 60),
  stat_monitor_enable: flag,
  synchronous_replication: choice('off', 'quorum'),
  temp_file_limit: int(-1, int32),
  timescaledb: z.strictObject({ max_background_workers: int(1, 4096) }).partial(),
  timezone: text(64),
  track_activity_query_size: int(1024, 10_240),
  track_commit_timestamp: choice('off', 'on'),
  track_functions: choice('all', 'pl', 'none'),
  track_io_timing: choice('off', 'on'),
  wal_sender_timeout: int(0, 10_800_000),
  wal_writer_delay: int(10, 200),
  work_mem: int(1, 1024),
})

const mysql = z.strictObject({
  ...backupTime,
  automatic_sp_privileges: flag,
  binlog_retention_period: num(600, 604_800),
  connect_timeout: int(2, 3600),
  default_time_zone: text(100),
  div_precision_increment: int(0, 30),
  end_markers_in_json: flag,
  eq_range_index_dive_limit: int(0, uint32),
  group_concat_max_len: int(4),
  information_schema_stats_expiry: int(900, 31_536_000),
  innodb_change_buffer_max_size: int(0, 50),
  innodb_flush_neighbors: int(0, 2),
  innodb_ft_enable_stopword: flag,
  innodb_ft_max_token_size: int(10, 84),
  innodb_ft_min_token_size: int(0, 16),
  innodb_ft_num_word_optimize: int(1000, 10_000),
  innodb_ft_result_cache_limit: int(1_000_000, uint32),
  innodb_ft_server_stopword_table: text(1024).regex(/^.+\/.+$/),
  innodb_ft_user_stopword_table: text(1024).regex(/^.+\/.+$/),
  innodb_lock_wait_timeout: int(1, 3600),
  innodb_log_buffer_size: int(1_048_576, uint32),
  innodb_online_alter_log_max_size: int(65_536, 1_099_511_627_776),
  innodb_optimize_fulltext_only: flag,
  innodb_print_all_deadlocks: flag,
  innodb_read_io_threads: int(1, 64),
  innodb_rollback_on_timeout: flag,
  innodb_thread_concurrency: int(0, 1000),
  innodb_write_io_threads: int(1, 64),
  interactive_timeout: int(30, 604_800),
  internal_tmp_mem_storage_engine: choice('TempTable', 'MEMORY'),
  log_output: choice('INSIGHTS', 'TABLE', 'INSIGHTS,TABLE', 'NONE'),
  long_query_time: num(0, 3600),
  max_allowed_packet: int(102_400, gib),
  max_execution_time: int(0, uint32),
  max_heap_table_size: int(1_048_576, gib),
  max_seeks_for_key: int(1),
  mysql_incremental_backup: z
    .strictObject({ enabled: flag, full_backup_week_schedule: text(64) })
    .partial(),
  net_buffer_length: int(1024, 1_048_576),
  net_read_timeout: int(1, 3600),
  net_write_timeout: int(1, 3600),
  optimizer_prune_level: int(0, 1),
  optimizer_search_depth: int(0, 62),
  optimizer_switch: z
    .string()
    .regex(/^(default|[a-z_]+=(on|off|default)(,[a-z_]+=(on|off|default))*)$/),
  slow_query_log: flag,
  sort_buffer_size: int(32_768, gib),
  sql_mode: text(1024).regex(/^[A-Z0-9_]*(,[A-Z0-9_]+)*$/),
  sql_require_primary_key: flag,
  tmp_table_size: int(1_048_576, gib),
  wait_timeout: int(1, 2_147_483),
  windowing_use_high_precision: flag,
})

const evictions = [
  'noeviction',
  'allkeys-lru',
  'allkeys-random',
  'volatile-lru',
  'volatile-random',
  'volatile-ttl',
] as const

const redis = z.strictObject({
  redis_maxmemory_policy: z.enum(evictions),
  redis_pubsub_client_output_buffer_limit: int(32, 512),
  redis_number_of_databases: int(1, 128),
  redis_io_threads: int(1, 32),
  redis_lfu_log_factor: int(0, 100),
  redis_lfu_decay_time: int(1, 120),
  redis_ssl: flag,
  redis_timeout: int(0, 31_536_000),
  redis_notify_keyspace_events: text(32).regex(/^[KEg$lshzxeA]*$/),
  redis_persistence: choice('off', 'rdb', 'aof', 'none'),
  redis_acl_channels_default: choice('allchannels', 'resetchannels'),
})

/** The same settings under the names of today; the policy is accepted in both spellings. */
const valkey = z.strictObject({
  ...(Object.fromEntries(
    Object.entries(redis.shape).map(([name, field]) => [name.replace('redis_', 'valkey_'), field]),
  ) as Record<`valkey_${string}`, z.ZodType>),
  valkey_maxmemory_policy: z
    .string()
    .transform((policy) => policy.replaceAll('_', '-'))
    .pipe(z.enum(evictions)),
  valkey_active_expire_effort: int(1, 10),
  frequent_snapshots: flag,
})

const kafka = z.strictObject({
  auto_create_topics_enable: flag,
  compression_type: choice('gzip', 'snappy', 'lz4', 'zstd', 'uncompressed', 'producer'),
  connections_max_idle_ms: int(1000, 3_600_000),
  default_replication_factor: int(1, 10),
  group_initial_rebalance_delay_ms: int(0, 300_000),
  group_max_session_timeout_ms: int(0, 1_800_000),
  group_min_session_timeout_ms: int(0, 60_000),
  log_cleaner_delete_retention_ms: int(0, 315_569_260_000),
  log_cleaner_max_compaction_lag_ms: int(30_000),
  log_cleaner_min_cleanable_ratio: num(0.2, 0.9),
  log_cleaner_min_compaction_lag_ms: int(0),
  log_cleanup_policy: choice('delete', 'compact', 'compact,delete'),
  log_flush_interval_messages: int(1),
  log_flush_interval_ms: int(0),
  log_index_interval_bytes: int(0, 104_857_600),
  log_index_size_max_bytes: int(1_048_576, 104_857_600),
  log_message_downconversion_enable: flag,
  log_message_timestamp_difference_max_ms: int(0),
  log_message_timestamp_type: choice('CreateTime', 'LogAppendTime'),
  log_preallocate: flag,
  log_retention_bytes: int(-1),
  log_retention_hours: int(-1, int32),
  log_retention_ms: int(-1),
  log_roll_jitter_ms: int(0),
  log_roll_ms: int(1),
  log_segment_bytes: int(10_485_760, gib),
  log_segment_delete_delay_ms: int(0, 3_600_000),
  max_connections_per_ip: int(256, int32),
  max_incremental_fetch_session_cache_slots: int(1000, 10_000),
  message_max_bytes: int(0, 100_001_200),
  min_insync_replicas: int(1, 7),
  num_partitions: int(1, 1000),
  offsets_retention_minutes: int(1, int32),
  producer_purgatory_purge_interval_requests: int(10, 10_000),
  replica_fetch_max_bytes: int(1_048_576, 104_857_600),
  replica_fetch_response_max_bytes: int(10_485_760, 1_048_576_000),
  schema_registry: flag,
  socket_request_max_bytes: int(10_485_760, 209_715_200),
  transaction_remove_expired_transaction_cleanup_interval_ms: int(600_000, 3_600_000),
  transaction_state_log_segment_bytes: int(1_048_576, int32),
})

const pools = ['search', 'search_throttled', 'get', 'analyze', 'write', 'force_merge'] as const
const queued = ['search', 'search_throttled', 'get', 'analyze', 'write'] as const

const opensearch = z.strictObject({
  action_auto_create_index_enabled: flag,
  action_destructive_requires_name: flag,
  cluster_max_shards_per_node: int(100, 10_000),
  cluster_routing_allocation_node_concurrent_recoveries: int(2, 16),
  enable_security_audit: flag,
  http_max_content_length_bytes: int(1, int32),
  http_max_header_size_bytes: int(1024, 262_144),
  http_max_initial_line_length_bytes: int(1024, 65_536),
  indices_fielddata_cache_size_percentage: int(3, 100),
  indices_memory_index_buffer_size_percentage: int(3, 40),
  indices_memory_max_index_buffer_size_mb: int(3, 2048),
  indices_memory_min_index_buffer_size_mb: int(3, 2048),
  indices_queries_cache_size_percentage: int(3, 40),
  indices_query_bool_max_clause_count: int(64, 4096),
  indices_recovery_max_concurrent_file_chunks: int(2, 5),
  indices_recovery_max_mb_per_sec: int(40, 400),
  ism_enabled: flag,
  ism_history_enabled: flag,
  ism_history_max_age_hours: int(1, int32),
  ism_history_max_docs: int(1),
  ism_history_rollover_check_period_hours: int(1, int32),
  ism_history_rollover_retention_period_days: int(1, int32),
  keep_index_refresh_interval: flag,
  knn_memory_circuit_breaker_enabled: flag,
  knn_memory_circuit_breaker_limit: int(0, 100),
  override_main_response_version: flag,
  plugins_alerting_filter_by_backend_roles_enabled: flag,
  reindex_remote_whitelist: z.array(z.string()),
  script_max_compilations_rate: text(64),
  search_max_buckets: int(1, 1_000_000),
  ...(Object.fromEntries(pools.map((pool) => [`thread_pool_${pool}_size`, int(1, 128)])) as Record<
    `thread_pool_${(typeof pools)[number]}_size`,
    z.ZodInt
  >),
  ...(Object.fromEntries(
    queued.map((pool) => [`thread_pool_${pool}_queue_size`, int(10, 2000)]),
  ) as Record<`thread_pool_${(typeof queued)[number]}_queue_size`, z.ZodInt>),
})

const mongodb = z.strictObject({
  default_read_concern: choice('local', 'available', 'majority'),
  default_write_concern: text(64),
  transaction_lifetime_limit_seconds: int(1, int32),
  slow_op_threshold_ms: int(0, int32),
  verbosity: int(0, 5),
})

/** By the engine's slug in the API. */
export const configFields = { pg, mysql, redis, valkey, kafka, opensearch, mongodb }

export const TopicConfig = z
  .strictObject({
    cleanup_policy: choice('delete', 'compact', 'compact_delete'),
    compression_type: choice('producer', 'gzip', 'snappy', 'lz4', 'zstd', 'uncompressed'),
    delete_retention_ms: int(0),
    file_delete_delay_ms: int(0),
    flush_messages: int(1),
    flush_ms: int(0),
    index_interval_bytes: int(0, int32),
    max_compaction_lag_ms: int(1),
    max_message_bytes: int(0, int32),
    message_down_conversion_enable: flag,
    message_format_version: z.string().regex(/^\d+\.\d+(\.\d+)?(-IV\d+)?$/),
    message_timestamp_difference_max_ms: int(0),
    message_timestamp_type: choice('create_time', 'log_append_time'),
    min_cleanable_dirty_ratio: num(0, 1),
    min_compaction_lag_ms: int(0),
    min_insync_replicas: int(1, 15),
    preallocate: flag,
    retention_bytes: int(-1),
    retention_ms: int(-1),
    segment_bytes: int(14, int32),
    segment_index_bytes: int(4, int32),
    segment_jitter_ms: int(0),
    segment_ms: int(1),
  })
  .partial()
