import type { UserSpec } from '#engines/database.ts'
import type { UserSettings } from './contract.ts'

/** The rights of a user as engines take them. */
export const rightsOf = (settings: UserSettings): Partial<UserSpec> => ({
  ...(settings.pg_allow_replication === undefined
    ? {}
    : { replication: settings.pg_allow_replication }),
  ...(settings.acl ? { topicRights: settings.acl } : {}),
  ...(settings.opensearch_acl ? { indexRights: settings.opensearch_acl } : {}),
  ...(settings.mongo_user_settings
    ? {
        documentRights: {
          databases: settings.mongo_user_settings.databases ?? [],
          role: settings.mongo_user_settings.role ?? 'readWrite',
        },
      }
    : {}),
})
