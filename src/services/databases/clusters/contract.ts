import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'
import { NewTrustedSource, TrustedSource } from '../firewall/contract.ts'
import { DatabaseUser } from '../users/contract.ts'

const { get, post, put, del } = resource('database')

export const engineSlugs = [
  'pg',
  'mysql',
  'redis',
  'valkey',
  'mongodb',
  'kafka',
  'opensearch',
  'advanced_pg',
  'advanced_mysql',
] as const

export const Connection = z.looseObject({
  uri: z.string(),
  database: z.string().optional(),
  host: z.string(),
  port: z.int(),
  user: z.string().optional(),
  password: z.string().optional(),
  ssl: z.boolean(),
})
export type Connection = z.output<typeof Connection>

const MaintenanceWindow = z.looseObject({
  day: z.string(),
  hour: z.string(),
  pending: z.boolean().optional(),
  description: z.array(z.string()).nullish(),
})

export const Cluster = z.looseObject({
  id: Uuid,
  name: z.string(),
  engine: z.enum(engineSlugs),
  version: z.string().optional(),
  semantic_version: z.string().optional(),
  num_nodes: z.int(),
  size: z.string(),
  region: z.string(),
  status: z.enum(['creating', 'online', 'resizing', 'migrating', 'forking']).optional(),
  created_at: Timestamp.optional(),
  private_network_uuid: z.string().optional(),
  tags: z.array(z.string()).nullish(),
  db_names: z.array(z.string()).nullish(),
  connection: Connection.optional(),
  private_connection: Connection.optional(),
  standby_connection: Connection.optional(),
  standby_private_connection: Connection.optional(),
  ui_connection: Connection.optional(),
  schema_registry_connection: Connection.optional(),
  users: z.array(DatabaseUser).nullish(),
  maintenance_window: MaintenanceWindow.nullish(),
  project_id: z.string().optional(),
  rules: z.array(TrustedSource).nullish(),
  storage_size_mib: z.int().optional(),
  metrics_endpoints: z.array(z.looseObject({ host: z.string(), port: z.int() })).nullish(),
})
export type Cluster = z.output<typeof Cluster>

const NewCluster = z.looseObject({
  name: z.string(),
  engine: z.enum(engineSlugs),
  version: absentWhenEmpty(z.string()),
  region: z.string(),
  size: z.string(),
  num_nodes: z.int(),
  storage_size_mib: z.int().nullish(),
  tags: z.array(z.string()).nullish(),
  private_network_uuid: absentWhenEmpty(Uuid),
  project_id: absentWhenEmpty(Uuid),
  rules: z.array(NewTrustedSource).nullish(),
  backup_restore: z
    .looseObject({
      database_name: z.string().min(1),
      backup_created_at: absentWhenEmpty(Timestamp),
    })
    .nullish(),
})

const Backup = z.looseObject({
  created_at: Timestamp,
  size_gigabytes: z.number(),
  incremental: z.boolean().optional(),
})

const EngineOptions = z.looseObject({
  regions: z.array(z.string()).nullish(),
  versions: z.array(z.string()).nullish(),
  layouts: z
    .array(z.looseObject({ num_nodes: z.int(), sizes: z.array(z.string()).nullish() }))
    .nullish(),
})

export type EngineOptions = z.output<typeof EngineOptions>

const VersionAvailability = z.looseObject({
  version: z.string(),
  end_of_life: z.string().nullish(),
  end_of_availability: z.string().nullish(),
})

/** What a cluster's servers use now, all nodes together. */
const Metrics = z.looseObject({
  state: z.enum(['online', 'starting', 'failed', 'absent']),
  restarts: z.int(),
  connections: z.int(),
  cpu_seconds: z.number(),
  memory_bytes: z.int(),
  disk_bytes: z.int(),
  nodes: z.array(z.looseObject({ role: z.enum(['primary', 'replica']), state: z.string() })),
})

const Database = z.looseObject({ name: z.string().min(1) })

export const clusters = {
  list: get('/v2/databases', {
    query: Page.extend({ tag_name: z.string().optional() }),
    returns: listOf('databases', Cluster),
  }),
  options: get('/v2/databases/options', {
    returns: z.object({
      options: z.record(z.string(), EngineOptions),
      version_availability: z.record(z.string(), z.array(VersionAvailability).nullable()),
    }),
  }),
  create: post('/v2/databases', { body: NewCluster, returns: one('database', Cluster) }),
  get: get('/v2/databases/:id', { returns: one('database', Cluster) }),
  delete: del('/v2/databases/:id'),
  ca: get('/v2/databases/:id/ca', {
    returns: one('ca', z.looseObject({ certificate: z.string() })),
  }),
  resize: put('/v2/databases/:id/resize', {
    body: z.looseObject({
      size: absentWhenEmpty(z.string()),
      num_nodes: z.int().optional(),
      storage_size_mib: z.int().nullish(),
    }),
    status: 202,
  }),
  upgrade: put('/v2/databases/:id/upgrade', {
    body: z.looseObject({ version: z.string().min(1) }),
  }),
  backups: get('/v2/databases/:id/backups', {
    query: Page,
    returns: listOf('backups', Backup).extend({
      scheduled_backup_time: z
        .looseObject({
          backup_hour: z.int(),
          backup_minute: z.int(),
          backup_interval_hours: z.int(),
        })
        .nullish(),
      backup_progress: z.string().optional(),
    }),
  }),
  backup: post('/v2/databases/:id/backups', {
    returns: one('backup', Backup),
    ours: true,
  }),
  metrics: get('/v2/databases/:id/metrics', {
    returns: one('metrics', Metrics),
    ours: true,
  }),
  logs: get('/v2/databases/:id/logs', {
    returns: z.object({ logs: z.array(z.string()) }),
    ours: true,
  }),
  listDatabases: get('/v2/databases/:id/dbs', {
    query: Page,
    returns: listOf('dbs', Database),
  }),
  createDatabase: post('/v2/databases/:id/dbs', {
    body: Database,
    returns: one('db', Database),
  }),
  getDatabase: get('/v2/databases/:id/dbs/:database', { returns: one('db', Database) }),
  deleteDatabase: del('/v2/databases/:id/dbs/:database'),
}
