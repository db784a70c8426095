/**
 * What the platform asks of a database engine. Nothing here knows where a server runs: a driver of
 * local processes and one of a Kubernetes operator answer the same questions.
 */
export interface EngineDriver {
  readonly engine: Engine
  /** What can be created here, newest last; and what cannot, with the reason. */
  versions(): Promise<EngineVersion[]>
  /** Bring the cluster about as specified: made, started, resized or adopted. Safe to repeat. */
  ensure(spec: ClusterSpec, signal?: AbortSignal): Promise<ClusterState>
  /** Nothing of it remains: no process, no data, no backup. Safe to repeat. */
  destroy(id: string): Promise<void>
  /** The clusters that exist, wanted or not. */
  list(): Promise<string[]>
  /** PEM of what a client trusts. */
  authority(id: string): Promise<string>
  observe(id: string): Promise<Observation>
  /** The last lines the servers wrote. */
  logs(id: string): Promise<string[]>

  /** The settings in force, asked from the running engine, under the names of the API. */
  readConfig(id: string): Promise<Settings>
  /** Settings of this engine; a value of null goes back to the default. */
  applyConfig(id: string, patch: Settings): Promise<ConfigOutcome>

  /** Names of the accounts in the engine, the default one first. */
  listUsers(id: string): Promise<string[]>
  /** Make the account or bring it to this password and these rights. */
  putUser(id: string, user: UserSpec): Promise<void>
  deleteUser(id: string, name: string): Promise<void>

  listDatabases(id: string): Promise<string[]>
  createDatabase(id: string, name: string): Promise<void>
  deleteDatabase(id: string, name: string): Promise<void>

  takeBackup(id: string, backup: string): Promise<{ bytes: number }>
  removeBackup(id: string, backup: string): Promise<void>

  /** To another version present, data and accounts kept; on failure the old one serves again. */
  upgrade(id: string, version: string): Promise<void>

  /**
   * Only these sources may connect, and nobody else stays connected. They are asked for when it is
   * this change's turn, so that of two changes the later one holds.
   */
  admit(id: string, sources: () => Promise<Sources>): Promise<Enforcement>

  /** Tells at once what is wrong with the source; then copies and follows until stopped. */
  startMigration(id: string, source: MigrationSource): Promise<void>
  migrationStatus(id: string): Promise<MigrationStatus>
  /** Ends the following and removes what replication left on the source. */
  stopMigration(id: string): Promise<void>

  topics?: TopicDriver
}

export type Engine = 'pg' | 'mysql' | 'valkey' | 'kafka' | 'opensearch' | 'mongodb'

export interface EngineVersion {
  version: string
  /** What really runs: `PostgreSQL 15.18`. */
  product: string
  semantic: string
  available: boolean
  /** Why not, in one sentence. */
  reason?: string
}

export interface ClusterSpec {
  id: string
  version: string
  nodes: number
  memoryMib: number
  storageMib: number
  /** The default account, made with the cluster. */
  admin: { name: string; password: string }
  /** The default database, where the engine has databases. */
  database: string
  /** Start from a backup of another cluster instead of empty. */
  restore?: { cluster: string; backup: string }
}

export interface ClusterState {
  /** Where the cluster answers. */
  primary: { host: string; port: number }
  /** Where its replicas answer, read-only. */
  standby?: { host: string; port: number }
  version: EngineVersion
  /** What was asked but is not in force on this machine. */
  notes: string[]
}

export interface Observation {
  state: 'online' | 'starting' | 'failed' | 'absent'
  problem?: string
  /** Restarts after a crash, since it was made. */
  restarts: number
  nodes: { role: 'primary' | 'replica'; state: string }[]
  connections: number
  cpuSeconds: number
  memoryBytes: number
  diskBytes: number
}

export type Settings = Record<string, unknown>

export interface ConfigOutcome {
  /** Whether the server had to restart for it. */
  restarted: boolean
  /** Settings that are kept, but that nothing here enforces, with the reason. */
  notEnforced: Record<string, string>
}

export interface UserSpec {
  name: string
  password: string
  /** The default account, with all rights a customer has. */
  primary: boolean
  authPlugin?: string
  readonly?: boolean
  replication?: boolean
  topicRights?: { topic: string; permission: string }[]
  indexRights?: { index: string; permission: string }[]
  documentRights?: { databases: string[]; role: string }
}

export interface MigrationSource {
  host: string
  port: number
  database: string | undefined
  username: string | undefined
  password: string | undefined
  ssl: boolean
  ignore: readonly string[]
}

export interface MigrationStatus {
  status: 'none' | 'running' | 'syncing' | 'canceled' | 'error' | 'done'
  problem?: string
}

/** IPv4 addresses and blocks; `anyone`: no gate. */
export type Sources = readonly string[] | 'anyone'

export interface Enforcement {
  enforced: boolean
  /** `the kernel filter`, `the proxy`, or why it is not in force. */
  by: string
}

export interface TopicDriver {
  list(id: string): Promise<TopicState[]>
  get(id: string, name: string): Promise<TopicState | undefined>
  create(id: string, topic: TopicSpec): Promise<void>
  update(id: string, topic: TopicSpec): Promise<void>
  delete(id: string, name: string): Promise<void>
}

export interface TopicSpec {
  name: string
  partitions?: number
  replicas?: number
  config?: Settings
}

export interface TopicState {
  name: string
  replicas: number
  config: Settings
  partitions: {
    id: number
    bytes: number
    inSync: number
    earliest: number
    groups: { group: string; offset: number }[]
  }[]
}
