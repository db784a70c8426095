import { ApiError } from '#core/error.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { checkName, clusterAccess, type DatabaseEngines } from '../access.ts'
import { asUser, seesSecrets } from '../clusters/present.ts'
import { specOf } from '../clusters/reconcile.ts'
import { clusterRecords, type UserRecord, userKey, userRecords } from '../clusters/records.ts'
import type { Slug } from '../clusters/traits.ts'
import { databaseUsers, type UserSettings } from './contract.ts'

/** The setting that belongs to an engine; another one would be kept and do nothing. */
const settingOf: Partial<Record<Slug, keyof UserSettings>> = {
  pg: 'pg_allow_replication',
  kafka: 'acl',
  opensearch: 'opensearch_acl',
  mongodb: 'mongo_user_settings',
}

export const databaseUserService =
  (engines: DatabaseEngines): Service =>
  (on, { store, ids }) => {
    const access = clusterAccess(store, engines)
    const table = store.collection(userRecords)

    const find = async (cluster: string, name: string): Promise<UserRecord> => {
      const record = await table.get(userKey(cluster, name))
      if (!record) throw ApiError.notFound(`User ${name}`)
      return record
    }

    /** Only what the engine can enforce; other clients send empty values of every engine. */
    const checked = (engine: Slug, settings: UserSettings | null | undefined): UserSettings => {
      const mine = settingOf[engine]
      const given = Object.entries(settings ?? {}).filter(([, value]) =>
        Array.isArray(value)
          ? value.length > 0
          : value !== null && value !== undefined && value !== false,
      )
      for (const [name] of given)
        if (name !== mine)
          throw ApiError.invalid(
            mine
              ? `settings.${name} is not for ${engine}; settings.${mine} is.`
              : `settings.${name} is not for ${engine}, which has no such rights.`,
          )
      return Object.fromEntries(given) as UserSettings
    }

    on(databaseUsers.list, async ({ path, query, token }) => {
      await access.find(path.id)
      const all = await table.list({ where: { cluster: path.id } })
      const secrets = seesSecrets(token)
      return pageOfItems(
        'users',
        all.map((user) => asUser(user, secrets)),
        query,
      )
    })

    on(databaseUsers.get, async ({ path, token }) => {
      await access.find(path.id)
      return { user: asUser(await find(path.id, path.user), seesSecrets(token)) }
    })

    on(databaseUsers.create, async ({ path, body }) => {
      const { record, driver } = await access.running(path.id)
      const name = checkName('name', body.name)
      if (await table.get(userKey(record.id, name)))
        throw ApiError.invalid(`name ${name} is taken by another user of the cluster.`)
      if (
        (await driver.listUsers(record.id)).includes(name) ||
        /^(postgres|root|cove|pg_)/.test(name)
      )
        throw ApiError.invalid(`name ${name} is taken by the engine itself.`)
      const plugin = body.mysql_settings?.auth_plugin
      if (plugin && record.engine !== 'mysql')
        throw ApiError.invalid(`mysql_settings is not for ${record.engine}.`)
      const user: UserRecord = {
        key: userKey(record.id, name),
        cluster: record.id,
        name,
        password: `AVNS_${ids.secret(12)}`,
        role: 'normal',
        auth_plugin: plugin ?? null,
        readonly: body.readonly ?? false,
        settings: checked(record.engine, body.settings),
        applied: false,
      }
      await table.insert(user)
      try {
        await driver.putUser(record.id, specOf(user))
      } catch (error) {
        await table.remove(user.key)
        throw error
      }
      await table.update(user.key, (current) => ({ ...current, applied: true }))
      return { user: asUser(user, true) }
    })

    on(databaseUsers.update, async ({ path, body, token }) => {
      const { record, driver } = await access.running(path.id)
      const before = await find(record.id, path.user)
      const settings = checked(record.engine, body.settings)
      const user = { ...before, settings }
      await driver.putUser(record.id, specOf(user))
      await table.update(user.key, (current) => ({ ...current, settings }))
      return { user: asUser(user, seesSecrets(token)) }
    })

    on(databaseUsers.delete, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      const user = await find(record.id, path.user)
      if (user.role === 'primary')
        throw ApiError.invalid(
          `${user.name} is the default user of the cluster; it cannot be deleted.`,
        )
      await driver.deleteUser(record.id, user.name)
      await table.remove(user.key)
    })

    on(databaseUsers.resetAuth, async ({ path, body }) => {
      const { record, driver } = await access.running(path.id)
      const before = await find(record.id, path.user)
      const plugin = body.mysql_settings?.auth_plugin
      if (plugin && record.engine !== 'mysql')
        throw ApiError.invalid(`mysql_settings is not for ${record.engine}.`)
      const user: UserRecord = {
        ...before,
        password: `AVNS_${ids.secret(12)}`,
        auth_plugin: plugin ?? before.auth_plugin,
      }
      await driver.putUser(record.id, specOf(user))
      await store.transaction(async (tx) => {
        await tx.collection(userRecords).put(user)
        if (user.role === 'primary')
          await tx
            .collection(clusterRecords)
            .update(record.id, (current) => ({ ...current, password: user.password }))
      })
      return { user: asUser(user, true) }
    })
  }
