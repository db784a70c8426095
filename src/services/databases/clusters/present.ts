import type { Store } from '#platform/store/store.ts'
import { allows, type Token } from '#platform/tokens.ts'
import { tagsOf } from '../../compute/tags/taggings.ts'
import type { DatabaseUser } from '../users/contract.ts'
import type { Cluster, Connection } from './contract.ts'
import { type ClusterRecord, type UserRecord, userRecords } from './records.ts'
import { traits } from './traits.ts'

/** Whether the caller may see passwords. */
export const seesSecrets = (token: Token) => allows(token.scopes, 'database:view_credentials')

export const asUser = (record: UserRecord, secrets: boolean): DatabaseUser => ({
  name: record.name,
  role: record.role,
  ...(secrets ? { password: record.password } : {}),
  ...(record.auth_plugin ? { mysql_settings: { auth_plugin: record.auth_plugin as never } } : {}),
  ...(Object.keys(record.settings).length > 0 ? { settings: record.settings } : {}),
})

const connectionTo = (
  record: ClusterRecord,
  endpoint: { host: string; port: number },
  secrets: boolean,
): Connection => {
  const { admin: user, database, uri } = traits[record.engine]
  const password = secrets ? record.password : ''
  return {
    uri: uri({ user, password, ...endpoint, database }),
    database,
    ...endpoint,
    user,
    ...(secrets ? { password } : {}),
    ssl: true,
  }
}

/** A cluster as the public API shows it. */
export const asCluster = async (
  store: Store,
  record: ClusterRecord,
  token: Token,
): Promise<Cluster> => {
  const secrets = seesSecrets(token)
  const users = await store.collection(userRecords).list({ where: { cluster: record.id } })
  const migrating = ['running', 'syncing'].includes(record.migration?.status ?? '')
  const { primary, standby } = record
  const { database } = traits[record.engine]
  return {
    id: record.id,
    name: record.name,
    engine: record.engine,
    version: record.version,
    semantic_version: record.semantic_version,
    num_nodes: record.num_nodes,
    size: record.size,
    region: record.region,
    status: migrating && record.status === 'online' ? 'migrating' : record.status,
    created_at: record.created_at,
    ...(record.private_network_uuid ? { private_network_uuid: record.private_network_uuid } : {}),
    ...(record.project_id ? { project_id: record.project_id } : {}),
    tags: await tagsOf(store, 'database', record.id),
    db_names: database ? [database] : [],
    ...(primary
      ? {
          connection: connectionTo(record, primary, secrets),
          private_connection: connectionTo(record, primary, secrets),
        }
      : {}),
    ...(standby
      ? {
          standby_connection: connectionTo(record, standby, secrets),
          standby_private_connection: connectionTo(record, standby, secrets),
        }
      : {}),
    ...(primary && record.engine === 'opensearch'
      ? { ui_connection: connectionTo(record, primary, secrets) }
      : {}),
    users: users.map((user) => asUser(user, secrets)),
    maintenance_window: { day: 'sunday', hour: '03:00', pending: false, description: [] },
    rules: record.rules,
    storage_size_mib: record.storage_size_mib,
  }
}
