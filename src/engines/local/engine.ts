import type {
  Engine,
  MigrationSource,
  Settings,
  Sources,
  TopicDriver,
  UserSpec,
} from '../database.ts'
import type { Identity } from './identity.ts'
import type { Command } from './run.ts'

/** A version of an engine found on this machine. */
export interface Release {
  version: string
  semantic: string
  product: string
  /** Folder of its programs. */
  bin: string
}

/** What a driver remembers of a cluster, in its folder. */
export interface Manifest {
  id: string
  version: string
  address: string
  /** The first one is the primary. */
  nodes: string[]
  /** Number of the next node that is made. */
  next: number
  memoryMib: number
  storageMib: number
  admin: { name: string; password: string }
  database: string
  /** Of the engine's own superuser, which no customer gets. */
  rootPassword: string
  bootstrapped: boolean
  /** Settings asked for, under the names of the API. */
  settings: Settings
  sources: Sources
  migration?: Migration
}

export interface Migration {
  status: 'running' | 'syncing' | 'canceled' | 'error' | 'done'
  problem?: string
  /** What the engine needs to follow, and to clean up after. */
  detail: Record<string, unknown>
}

/** One server of a cluster, with everything an engine needs to drive it. */
export interface Node {
  cluster: Manifest
  name: string
  role: 'primary' | 'replica'
  release: Release
  as: Identity | undefined
  /** The node's folder, its data, and the folder of its socket. */
  dir: string
  data: string
  run: string
  /** Where it listens. */
  host: string
  port: number
  /** Where clients find it. */
  address: string
  tls: { key: string; cert: string; ca: string }
  /** For things made once per version. */
  templates: string
}

/** What differs from engine to engine when its servers are local processes. */
export interface LocalEngine {
  readonly engine: Engine
  /** Accounts to run as, the first that exists. */
  readonly accounts: readonly string[]
  readonly stopSignal: NodeJS.Signals
  readonly graceMs: number
  readonly maxNodes: number
  releases(): Promise<Release[]>
  /** Accounts live in each node, not in the data that replicas copy. */
  readonly accountsPerNode?: boolean
  /** Why it cannot be created, when `releases` finds nothing. */
  readonly missing: string

  /** The data of a new, empty primary. */
  initialise(node: Node, into: string): Promise<void>
  /** The data of a replica. */
  replicate(node: Node, primary: Node, into: string): Promise<void>
  /** Files the server reads at its start; written before every start. */
  configure(node: Node, primary: Node): Promise<void>
  command(node: Node): Promise<Command>
  ready(node: Node): Promise<void>
  /** The default account and database. Safe to repeat. */
  bootstrap(node: Node): Promise<void>
  promote(node: Node): Promise<void>
  connections(node: Node): Promise<number>

  readConfig(node: Node): Promise<Settings>
  /** In force at once where the engine can; says whether a restart is needed for the rest. */
  applyConfig(nodes: readonly Node[], patch: Settings): Promise<Applied>

  listUsers(node: Node): Promise<string[]>
  putUser(node: Node, user: UserSpec): Promise<void>
  deleteUser(node: Node, name: string): Promise<void>
  listDatabases(node: Node): Promise<string[]>
  createDatabase(node: Node, name: string): Promise<void>
  deleteDatabase(node: Node, name: string): Promise<void>

  backup(node: Node, into: string): Promise<void>
  restore(node: Node, from: string, into: string): Promise<void>
  /** Data of `to` from the stopped `from`, which stays untouched. */
  upgrade(from: Node, to: Node, into: string): Promise<void>

  migration: MigrationEngine
  topics?: (find: (id: string) => Promise<readonly Node[]>) => TopicDriver
}

export interface Applied {
  restart: boolean
  notEnforced: Record<string, string>
}

export interface MigrationEngine {
  /** Check the source, start copying; returns what to remember. */
  start(node: Node, source: MigrationSource): Promise<Migration>
  /** How it stands now. */
  status(node: Node, migration: Migration): Promise<Migration>
  stop(node: Node, migration: Migration): Promise<void>
}
