import { z } from 'zod'
import { choice, object, text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { id, pageOf, paging } from '../args.ts'
import {
  authPlugins,
  databaseUsers,
  documentRoles,
  indexPermissions,
  topicPermissions,
} from './contract.ts'

const user = text('User name')

const settings = object('Rights, by engine', {
  acl: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        permission: z.enum(topicPermissions),
        topic: z.string(),
      }),
    )
    .optional()
    .describe('Kafka topics, such as orders-*'),
  opensearch_acl: z
    .array(z.strictObject({ index: z.string(), permission: z.enum(indexPermissions) }))
    .optional()
    .describe('OpenSearch indexes'),
  mongo_user_settings: z
    .strictObject({
      databases: z.array(z.string()).optional(),
      role: z.enum(documentRoles).optional(),
    })
    .optional()
    .describe('MongoDB'),
}).optional()

export const databaseUserTools = {
  'db-cluster-get-user': call(databaseUsers.get, {
    title: 'Get database user',
    about: 'Get a user with its password and rights.',
    args: { id, user },
    request: (a) => ({ path: { id: a.id, user: a.user } }),
  }),

  'db-cluster-list-users': call(databaseUsers.list, {
    title: 'List database users',
    about: 'List the users of a cluster.',
    args: { id, ...paging },
    request: (a) => ({ path: { id: a.id }, query: pageOf(a) }),
  }),

  'db-cluster-create-user': call(databaseUsers.create, {
    title: 'Create database user',
    about: 'Create a user; its password is generated and returned.',
    args: {
      id,
      name: text('User name'),
      mysql_auth_plugin: choice('For MySQL', authPlugins).optional(),
      settings,
    },
    request: (a) => ({
      path: { id: a.id },
      body: {
        name: a.name,
        ...(a.mysql_auth_plugin ? { mysql_settings: { auth_plugin: a.mysql_auth_plugin } } : {}),
        ...(a.settings ? { settings: a.settings } : {}),
      },
    }),
  }),

  'db-cluster-update-user': script({
    title: 'Update database user',
    about: 'Replace the rights of a user.',
    args: { id, user, settings },
    effect: 'change',
    uses: [databaseUsers.update, databaseUsers.get],
    returns: databaseUsers.update.returns,
    run: async (a, { api }) => {
      const path = { id: a.id, user: a.user }
      // The API wants the rights whole: left out, they stay as they are.
      const kept = a.settings ?? (await api(databaseUsers.get, { path })).user.settings ?? {}
      return api(databaseUsers.update, { path, body: { settings: kept } })
    },
  }),

  'db-cluster-delete-user': call(databaseUsers.delete, {
    title: 'Delete database user',
    about: 'Delete a user of a cluster.',
    args: { id, user },
    request: (a) => ({ path: { id: a.id, user: a.user } }),
  }),
}
