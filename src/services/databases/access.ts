import { ApiError } from '#core/error.ts'
import type { Engine, EngineDriver } from '#engines/database.ts'
import type { Store } from '#platform/store/store.ts'
import { type ClusterRecord, clusterRecords } from './clusters/records.ts'
import { traits } from './clusters/traits.ts'

/** The engines of this machine; opened when first asked for. */
export interface DatabaseEngines {
  drivers(): Promise<readonly EngineDriver[]>
  /** Whether clusters may be there from before. */
  used(): boolean
  /** Engines that are missing, and what decides who reaches a cluster. */
  glance(): { missing: string[]; gate: 'kernel' | 'proxy' }
  close(): Promise<void>
}

/** What every database slice needs: the cluster that a path names, and the driver that runs it. */
export const clusterAccess = (store: Store, engines: DatabaseEngines) => {
  const table = store.collection(clusterRecords)
  const driver = async (engine: Engine): Promise<EngineDriver> => {
    const found = (await engines.drivers()).find((one) => one.engine === engine)
    if (!found) throw ApiError.unavailable(`This Cove has no driver for ${engine}.`)
    return found
  }
  const find = async (id: string): Promise<ClusterRecord> => {
    const record = await table.get(id)
    if (!record || record.deleting) throw ApiError.notFound(`Database cluster ${id}`)
    return record
  }
  return {
    table,
    find,
    driver,
    /** The cluster with its driver, once it runs. */
    running: async (id: string) => {
      const record = await find(id)
      if (!record.primary)
        throw ApiError.conflict(
          `Database cluster ${record.name} is not online yet; its status is ${record.status}.`,
        )
      return { record, driver: await driver(traits[record.engine].driver) }
    },
  }
}

export type ClusterAccess = ReturnType<typeof clusterAccess>

/** A name as engines and shells can bear it. */
export const checkName = (what: string, name: string): string => {
  if (/^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/.test(name)) return name
  throw ApiError.invalid(
    `${what} must be 1 to 63 letters, digits, "_", "-" or ".", beginning with a letter or "_"; it is ${JSON.stringify(name.slice(0, 80))}.`,
  )
}
