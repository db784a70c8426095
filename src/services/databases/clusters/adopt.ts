import type { ClusterAccess, DatabaseEngines } from '../access.ts'

/**
 * After a start: every cluster is looked at, so that its servers are adopted or started again, and
 * what belongs to no cluster any more is removed.
 */
export const adoptClusters = async ({ table }: ClusterAccess, engines: DatabaseEngines) => {
  if (!engines.used()) return
  const records = await table.list()
  const known = new Set(records.map((record) => record.id))
  for (const record of records) await table.update(record.id, (current) => ({ ...current }))
  for (const driver of await engines.drivers())
    for (const id of await driver.list()) if (!known.has(id)) await driver.destroy(id)
}
