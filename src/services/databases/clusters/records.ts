import { collection } from '#core/collection.ts'
import type { TrustedSource } from '../firewall/contract.ts'
import type { UserSettings } from '../users/contract.ts'
import type { Slug } from './traits.ts'

interface Endpoint {
  host: string
  port: number
}

/** A cluster as it is kept: what is wanted, and what was seen of it. */
export interface ClusterRecord {
  id: string
  name: string
  engine: Slug
  version: string
  /** The version an upgrade goes to. */
  upgrade_to: string | null
  semantic_version: string
  num_nodes: number
  size: string
  storage_size_mib: number
  region: string
  status: 'creating' | 'online' | 'resizing' | 'migrating' | 'forking'
  created_at: string
  private_network_uuid: string | null
  project_id: string | null
  password: string
  rules: TrustedSource[]
  /** The backup it was made from. */
  origin: { cluster: string; backup: string } | null
  primary: Endpoint | null
  standby: Endpoint | null
  /** What was asked and is not in force here. */
  notes: string[]
  /** When automatic backups are taken, UTC. */
  backup_hour: number
  backup_minute: number
  /** ms since the epoch */
  next_backup: number
  migration: { id: string; status: string; created_at: string; problem?: string } | null
  deleting: boolean
}

export const clusterRecords = collection<ClusterRecord>('databases', {
  called: 'Database cluster',
  key: 'id',
  indexes: ['name', 'deleting'],
  reconciled: true,
})

export interface BackupRecord {
  /** `<cluster> <name>` */
  key: string
  cluster: string
  name: string
  created_at: string
  bytes: number
}

export const backupRecords = collection<BackupRecord>('database_backups', {
  called: 'Backup',
  key: 'key',
  indexes: ['cluster'],
})

export interface UserRecord {
  /** `<cluster> <name>` */
  key: string
  cluster: string
  name: string
  password: string
  role: 'primary' | 'normal'
  auth_plugin: string | null
  readonly: boolean
  settings: UserSettings
  /** Whether the engine has it as it is here. */
  applied: boolean
}

export const userRecords = collection<UserRecord>('database_users', {
  called: 'Database user',
  key: 'key',
  indexes: ['cluster'],
})

export const userKey = (cluster: string, name: string) => `${cluster} ${name}`
