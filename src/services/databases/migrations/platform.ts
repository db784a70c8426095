import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { clusterAccess, type DatabaseEngines } from '../access.ts'
import { migrations, type OnlineMigration } from './contract.ts'

export const migrationService =
  (engines: DatabaseEngines): Service =>
  (on, { store, clock, ids }) => {
    const access = clusterAccess(store, engines)

    const current = async (id: string, note: (text: string) => void): Promise<OnlineMigration> => {
      const { record, driver } = await access.running(id)
      const { migration } = record
      if (!migration) throw ApiError.notFound(`Online migration of cluster ${id}`)
      const now = await driver.migrationStatus(id)
      const status = now.status === 'none' ? migration.status : now.status
      if (now.problem) note(now.problem)
      if (status !== migration.status)
        await access.table.update(id, (before) => ({
          ...before,
          migration: before.migration && { ...before.migration, status },
        }))
      return {
        id: migration.id,
        created_at: migration.created_at,
        status: status as OnlineMigration['status'],
      }
    }

    on(migrations.get, ({ path, note }) => current(path.id, note))

    on(migrations.start, async ({ path, body, note }) => {
      const { record, driver } = await access.running(path.id)
      const { source } = body
      if (record.primary?.host === source.host && record.primary.port === source.port)
        throw ApiError.invalid('source must be another server than the cluster itself.')
      await driver.startMigration(record.id, {
        host: source.host,
        port: source.port,
        database: source.dbname,
        username: source.username,
        password: source.password,
        ssl: body.disable_ssl !== true,
        ignore: body.ignore_dbs ?? [],
      })
      const migration = { id: ids.uuid(), status: 'running', created_at: timestamp(clock) }
      await access.table.update(record.id, (before) => ({ ...before, migration }))
      return current(record.id, note)
    })

    on(migrations.stop, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      if (record.migration?.id !== path.migration)
        throw ApiError.notFound(`Online migration ${path.migration}`)
      await driver.stopMigration(record.id)
      await access.table.update(record.id, (before) => ({
        ...before,
        migration: before.migration && { ...before.migration, status: 'canceled' },
      }))
    })
  }
