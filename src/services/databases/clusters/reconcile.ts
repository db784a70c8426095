import { messageOf } from '#core/error.ts'
import type { EngineDriver, UserSpec } from '#engines/database.ts'
import type { Step } from '#platform/reconcile.ts'
import type { Kernel } from '#platform/service.ts'
import { setTags } from '../../compute/tags/taggings.ts'
import type { ClusterAccess } from '../access.ts'
import { sourcesOf } from '../firewall/sources.ts'
import { rightsOf } from '../users/rights.ts'
import { takeBackup } from './backups.ts'
import {
  backupRecords,
  type ClusterRecord,
  clusterRecords,
  type UserRecord,
  userRecords,
} from './records.ts'
import { databaseSize } from './sizes.ts'
import { traits } from './traits.ts'

const day = 86_400_000

/** Looks again this often where tags, instances or a migration may change by themselves. */
const lively = 5000

/** Brings clusters about: made, resized, upgraded, guarded, backed up, deleted. */
export const reconcileClusters = (kernel: Kernel, access: ClusterAccess) => {
  const { store, clock } = kernel
  const users = store.collection(userRecords)
  const urn = (id: string) => `cove:database:${id}`

  const erase = async (record: ClusterRecord, driver: EngineDriver) => {
    await driver.destroy(record.id)
    await store.transaction(async (tx) => {
      await setTags(tx, 'database', record.id, [])
      const where = { cluster: record.id }
      for (const table of [tx.collection(userRecords), tx.collection(backupRecords)])
        for (const { key } of await table.list({ where })) await table.remove(key)
      await kernel.meter.stop(urn(record.id), tx)
    })
  }

  const applyUsers = async (record: ClusterRecord, driver: EngineDriver) => {
    for (const user of await users.list({ where: { cluster: record.id } })) {
      if (user.applied) continue
      await driver.putUser(record.id, specOf(user))
      await users.update(user.key, (current) => ({ ...current, applied: true }))
    }
  }

  /** What an upgrade came to: the version that runs, or why it is still the old one. */
  const upgraded = async (record: ClusterRecord, driver: EngineDriver) => {
    if (!record.upgrade_to || record.upgrade_to === record.version) return {}
    try {
      await driver.upgrade(record.id, record.upgrade_to)
      return { version: record.upgrade_to }
    } catch (error) {
      const note = `The upgrade to ${record.upgrade_to} failed and ${record.version} serves again: ${messageOf(error)}`
      kernel.log.warn(note, { cluster: record.id })
      return { note }
    }
  }

  const backedUp = async (record: ClusterRecord) => {
    if (clock.now() < record.next_backup) return record.next_backup
    await takeBackup(kernel, access, record)
    return record.next_backup + Math.ceil((clock.now() - record.next_backup + 1) / day) * day
  }

  kernel.reconcile(clusterRecords, async (record, { signal }): Promise<Step<ClusterRecord>> => {
    const { driver: engine, admin, database } = traits[record.engine]
    const driver = await access.driver(engine)
    if (record.deleting) {
      await erase(record, driver)
      return { remove: true }
    }
    const size = databaseSize(record.size)
    const spec = {
      id: record.id,
      version: record.version,
      nodes: record.num_nodes,
      memoryMib: size?.memory ?? 1024,
      storageMib: record.storage_size_mib,
      admin: { name: admin, password: record.password },
      database,
      ...(record.origin ? { restore: record.origin } : {}),
    }
    const first = await driver.ensure(spec, signal)
    const upgrade = await upgraded(record, driver)
    const state = upgrade.version
      ? await driver.ensure({ ...spec, version: upgrade.version }, signal)
      : first
    await applyUsers(record, driver)
    const gate = await driver.admit(record.id, async () =>
      sourcesOf(store, (await access.table.require(record.id)).rules),
    )
    const next_backup = await backedUp(record)
    const following = ['running', 'syncing'].includes(record.migration?.status ?? '')
    const migration = following ? await driver.migrationStatus(record.id) : undefined
    const changing = record.rules.some((rule) => rule.type !== 'ip_addr')
    return {
      change: (current) => ({
        ...current,
        status: 'online',
        version: upgrade.version ?? current.version,
        upgrade_to: current.upgrade_to === record.upgrade_to ? null : current.upgrade_to,
        semantic_version: state.version.semantic,
        primary: state.primary,
        standby: state.standby ?? null,
        notes: [
          ...(upgrade.note ? [upgrade.note] : []),
          ...state.notes,
          ...(gate.enforced ? [] : [`The firewall is not in force: ${gate.by}`]),
        ],
        next_backup,
        migration:
          migration && current.migration
            ? { ...current.migration, ...migration }
            : current.migration,
      }),
      again: following || changing ? lively : Math.max(1000, next_backup - clock.now()),
    }
  })
}

export const specOf = (user: UserRecord): UserSpec => ({
  name: user.name,
  password: user.password,
  primary: user.role === 'primary',
  ...(user.auth_plugin ? { authPlugin: user.auth_plugin } : {}),
  readonly: user.readonly,
  ...rightsOf(user.settings),
})
