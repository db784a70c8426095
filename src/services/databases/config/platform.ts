import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'
import type { Settings } from '#engines/database.ts'
import type { Service } from '#platform/service.ts'
import { clusterAccess, type DatabaseEngines } from '../access.ts'
import type { ClusterRecord } from '../clusters/records.ts'
import type { Slug } from '../clusters/traits.ts'
import { databaseConfig, evictionPolicies } from './contract.ts'
import { configFields } from './fields.ts'

export const databaseConfigService =
  (engines: DatabaseEngines): Service =>
  (on, { store, clock }) => {
    const access = clusterAccess(store, engines)

    const read = async (id: string) => {
      const { record, driver } = await access.running(id)
      return { record, driver, config: shown(record, await driver.readConfig(id)) }
    }

    const apply = async (id: string, config: Settings, note: (text: string) => void) => {
      const { record, driver } = await access.running(id)
      const { backup_hour, backup_minute, ...patch } = checked(record.engine, config)
      if (Object.keys(patch).length > 0) {
        const outcome = await driver.applyConfig(id, patch)
        if (outcome.restarted) note('The servers of the cluster were restarted for it.')
        for (const [name, reason] of Object.entries(outcome.notEnforced))
          note(`${name} is accepted and not in force: ${reason}.`)
      }
      if (backup_hour === undefined && backup_minute === undefined) return
      await access.table.update(id, (current) => {
        const hour = Number(backup_hour ?? current.backup_hour)
        const minute = Number(backup_minute ?? current.backup_minute)
        return {
          ...current,
          backup_hour: hour,
          backup_minute: minute,
          next_backup: nextAt(hour, minute, clock.now()),
        }
      })
    }

    const only = async (id: string, slugs: readonly Slug[], what: string) => {
      const { engine } = await access.find(id)
      if (!slugs.includes(engine))
        throw ApiError.invalid(
          `Cluster ${id} is a ${engine} cluster; ${what} are for ${slugs.join(' and ')}.`,
        )
    }

    on(databaseConfig.get, async ({ path }) => ({ config: (await read(path.id)).config }))
    on(databaseConfig.update, ({ path, body, note }) => apply(path.id, body.config, note))

    on(databaseConfig.getSqlMode, async ({ path }) => {
      await only(path.id, ['mysql'], 'SQL modes')
      return { sql_mode: String((await read(path.id)).config.sql_mode ?? '') }
    })
    on(databaseConfig.setSqlMode, async ({ path, body, note }) => {
      await only(path.id, ['mysql'], 'SQL modes')
      await apply(path.id, { sql_mode: body.sql_mode }, note)
    })

    on(databaseConfig.getEvictionPolicy, async ({ path }) => {
      await only(path.id, ['valkey', 'redis'], 'eviction policies')
      const { config } = await read(path.id)
      const policy = String(config.valkey_maxmemory_policy ?? config.redis_maxmemory_policy)
      const eviction_policy = evictionPolicies.find((one) => one === policy.replaceAll('-', '_'))
      return { eviction_policy: eviction_policy ?? 'noeviction' }
    })
    on(databaseConfig.setEvictionPolicy, async ({ path, body, note }) => {
      await only(path.id, ['valkey', 'redis'], 'eviction policies')
      const { engine } = await access.find(path.id)
      const policy = body.eviction_policy.replaceAll('_', '-')
      await apply(path.id, { [`${engine}_maxmemory_policy`]: policy }, note)
    })
  }

/** The next time of day, UTC, as ms since the epoch. */
export const nextAt = (hour: number, minute: number, now: number): number => {
  const today = new Date(now)
  today.setUTCHours(hour, minute, 0, 0)
  return today.getTime() > now ? today.getTime() : today.getTime() + 86_400_000
}

/** Settings of the engine alone, valid; names of other engines come from clients that send them all. */
const checked = (engine: Slug, config: Settings): Settings => {
  const { shape } = configFields[engine]
  const known = Object.entries(config)
    .map(([name, value]): [string, unknown] => [
      engine === 'valkey' ? name.replace(/^redis_/, 'valkey_') : name,
      value,
    ])
    .filter(([name]) => name in shape)
  if (known.length === 0)
    throw ApiError.invalid(
      `config has no setting of a ${engine} cluster; its settings: ${Object.keys(shape).join(', ')}.`,
    )
  const reset = known.filter(([, value]) => value === null)
  const parsed = configFields[engine]
    .partial()
    .safeParse(Object.fromEntries(known.filter(([, value]) => value !== null)))
  if (!parsed.success) throw ApiError.invalid(`${issuesOf(parsed.error, 'config')}.`)
  return { ...(parsed.data as Settings), ...Object.fromEntries(reset) }
}

/** What the engine says, under the names its clusters have in the API. */
const shown = (record: ClusterRecord, config: Settings): Settings => {
  if (record.engine === 'valkey')
    return {
      ...config,
      valkey_maxmemory_policy: String(config.valkey_maxmemory_policy).replaceAll('-', '_'),
    }
  if (record.engine === 'redis')
    return Object.fromEntries(
      Object.entries(config)
        .map(([name, value]): [string, unknown] => [name.replace(/^valkey_/, 'redis_'), value])
        .filter(([name]) => name in configFields.redis.shape),
    )
  if (record.engine !== 'pg' && record.engine !== 'mysql') return config
  const { backup_hour, backup_minute } = record
  return { backup_hour, backup_minute, ...config }
}
