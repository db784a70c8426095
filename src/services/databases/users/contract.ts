import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty } from '#core/schema.ts'

const { get, post, put, del } = resource('database')

export const authPlugins = ['mysql_native_password', 'caching_sha2_password'] as const
export const topicPermissions = ['admin', 'consume', 'produce', 'produceconsume'] as const
export const indexPermissions = ['deny', 'admin', 'read', 'readwrite', 'write'] as const
export const documentRoles = ['readOnly', 'readWrite', 'dbAdmin'] as const

export const UserSettings = z.looseObject({
  pg_allow_replication: z.boolean().optional(),
  acl: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        topic: z.string(),
        permission: z.enum(topicPermissions),
      }),
    )
    .nullish(),
  opensearch_acl: z
    .array(z.looseObject({ index: z.string(), permission: z.enum(indexPermissions) }))
    .nullish(),
  mongo_user_settings: z
    .looseObject({
      databases: z.array(z.string()).nullish(),
      role: z.enum(documentRoles).optional(),
    })
    .nullish(),
})
export type UserSettings = z.output<typeof UserSettings>

const MysqlSettings = z.looseObject({ auth_plugin: absentWhenEmpty(z.enum(authPlugins)) })

export const DatabaseUser = z.looseObject({
  name: z.string(),
  role: z.enum(['primary', 'normal']).optional(),
  password: z.string().optional(),
  access_cert: z.string().optional(),
  access_key: z.string().optional(),
  mysql_settings: MysqlSettings.optional(),
  settings: UserSettings.optional(),
})
export type DatabaseUser = z.output<typeof DatabaseUser>

const NewUser = z.looseObject({
  name: z.string().min(1),
  mysql_settings: MysqlSettings.nullish(),
  settings: UserSettings.nullish(),
  readonly: z.boolean().optional(),
})

const users = '/v2/databases/:id/users'

export const databaseUsers = {
  list: get(users, { query: Page, returns: listOf('users', DatabaseUser) }),
  create: post(users, { body: NewUser, returns: one('user', DatabaseUser) }),
  get: get(`${users}/:user`, { returns: one('user', DatabaseUser) }),
  update: put(`${users}/:user`, {
    body: z.looseObject({ settings: UserSettings }),
    returns: one('user', DatabaseUser),
    status: 201,
  }),
  delete: del(`${users}/:user`),
  resetAuth: post(`${users}/:user/reset_auth`, {
    body: z.looseObject({ mysql_settings: MysqlSettings.nullish() }),
    returns: one('user', DatabaseUser),
    status: 200,
    act: 'update',
  }),
}
