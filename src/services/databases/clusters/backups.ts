import { timestamp } from '#platform/clock.ts'
import type { Kernel } from '#platform/service.ts'
import type { ClusterAccess } from '../access.ts'
import { type BackupRecord, backupRecords, type ClusterRecord } from './records.ts'
import { traits } from './traits.ts'

/** Backups that are kept; the oldest goes first. */
const kept = 7

/** Take a backup now, and let go of the oldest. */
export const takeBackup = async (
  { store, clock }: Kernel,
  access: ClusterAccess,
  cluster: ClusterRecord,
): Promise<BackupRecord> => {
  const driver = await access.driver(traits[cluster.engine].driver)
  const table = store.collection(backupRecords)
  const created_at = timestamp(clock)
  const name = created_at.replace(/[^0-9]/g, '')
  const { bytes } = await driver.takeBackup(cluster.id, name)
  const record = { key: `${cluster.id} ${name}`, cluster: cluster.id, name, created_at, bytes }
  await table.put(record)
  const all = await table.list({ where: { cluster: cluster.id }, newestFirst: true })
  for (const old of all.slice(kept)) {
    await driver.removeBackup(cluster.id, old.name)
    await table.remove(old.key)
  }
  return record
}

export const asBackup = (record: BackupRecord) => ({
  created_at: record.created_at,
  size_gigabytes: Math.round((record.bytes / 1e9) * 1e6) / 1e6,
  incremental: false,
})
