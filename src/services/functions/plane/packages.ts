import { ApiError } from '#core/error.ts'
import {
  actionId,
  folderOf,
  noPackage,
  type StoredAction,
  storedActions,
} from '../actions/records.ts'
import { Binding, type PackageChange } from '../packages/contract.ts'
import { packageId, type StoredPackage, storedPackages } from '../packages/records.ts'
import { faults } from './faults.ts'
import type { Ground } from './ground.ts'
import { checkName, nextVersion } from './names.ts'
import { checkSize, mergePairs } from './parameters.ts'

/** Packages of all namespaces. */
export const createPackages = (
  { store, clock, invoker, settings }: Ground,
  changed: () => void,
) => {
  const packages = store.collection(storedPackages)
  const actions = store.collection(storedActions)

  const actionsIn = (found: StoredPackage) => {
    const { namespace, name } = found.binding ?? found
    return actions.list({ where: { folder: folderOf(namespace, name) }, newestFirst: true })
  }

  const bound = async (target: StoredPackage['binding'], own: string) => {
    if (!target) return null
    const namespace = target.namespace === '_' ? own : target.namespace
    const found = await packages.get(packageId(namespace, target.name))
    if (!found || (namespace !== own && !found.publish))
      throw ApiError.badRequest('Binding references a package that does not exist.')
    if (found.binding) throw ApiError.badRequest('Cannot bind to another package binding.')
    return { namespace, name: target.name }
  }

  return {
    get: async (namespace: string, name: string): Promise<StoredPackage> => {
      const found = await packages.get(packageId(namespace, name))
      if (!found)
        throw (await actions.get(actionId(namespace, noPackage, name)))
          ? faults.otherCollection()
          : faults.missing()
      return found
    },

    list: (namespace: string, { limit, skip }: { limit: number; skip: number }, shared: boolean) =>
      shared
        ? listWithShared(namespace, limit, skip)
        : packages.list({ where: { namespace }, newestFirst: true, limit, offset: skip }),

    count: (namespace: string) => packages.count({ namespace }),

    put: async (
      namespace: string,
      name: string,
      change: PackageChange,
      overwrite: boolean,
    ): Promise<StoredPackage> => {
      if (checkName(name) === 'default')
        throw ApiError.badRequest("Package name 'default' is reserved.")
      const binding = change.binding?.name
        ? await bound(Binding.parse(change.binding), namespace)
        : null
      const written = await store.transaction(async (tx) => {
        const table = tx.collection(storedPackages)
        const current = await table.get(packageId(namespace, name))
        if (current && !overwrite) throw faults.exists()
        if (await tx.collection(storedActions).get(actionId(namespace, noPackage, name)))
          throw faults.otherCollection()
        if (current && binding && !current.binding)
          throw ApiError.conflict('Resource is a package and cannot become a package binding.')
        const next: StoredPackage = {
          id: packageId(namespace, name),
          namespace,
          name,
          version: current ? nextVersion(current.version) : '0.0.1',
          publish: change.publish ?? current?.publish ?? false,
          annotations: mergePairs(current?.annotations ?? [], change.annotations ?? []),
          parameters: change.parameters ?? current?.parameters ?? [],
          binding: binding ?? current?.binding ?? null,
          updated: clock.now(),
        }
        checkSize(next.parameters, 'Parameters', settings.payload)
        // Lists go by what was written last.
        if (current) await table.remove(current.id)
        return table.insert(next)
      })
      changed()
      return written
    },

    remove: async (namespace: string, name: string, force: boolean): Promise<StoredPackage> => {
      const removed = await store.transaction(async (tx) => {
        const found = await tx.collection(storedPackages).get(packageId(namespace, name))
        if (!found) throw faults.missing()
        const inside = found.binding
          ? []
          : await tx
              .collection(storedActions)
              .list({ where: { folder: folderOf(namespace, name) } })
        if (inside.length > 0 && !force)
          throw ApiError.conflict(
            `Package not empty (contains ${inside.length} ${inside.length === 1 ? 'entity' : 'entities'}). Set force param or delete package contents.`,
          )
        for (const action of inside) await tx.collection(storedActions).remove(action.id)
        await tx.collection(storedPackages).remove(found.id)
        return found
      })
      changed()
      invoker.evict(namespace)
      return removed
    },

    actionsIn,
  }

  async function listWithShared(namespace: string, limit: number, skip: number) {
    const own = await packages.list({ where: { namespace }, newestFirst: true })
    const shared = await packages.list({ where: { publish: true }, newestFirst: true })
    return [...own, ...shared.filter((each) => each.namespace !== namespace)].slice(
      skip,
      skip + limit,
    )
  }
}

export type Packages = ReturnType<typeof createPackages>

const shownPairs = <T extends Pick<StoredPackage, 'annotations' | 'parameters'>>(of: T) => ({
  annotations: of.annotations,
  parameters: of.parameters,
})

/** As lists show it. */
export const packageSummary = (of: StoredPackage) => ({
  namespace: of.namespace,
  name: of.name,
  version: of.version,
  publish: of.publish,
  annotations: of.annotations,
  binding: of.binding ?? false,
  updated: of.updated,
})

/** As itself, with what it contains; a binding has the parameters of its package below its own. */
export const packageView = (
  of: StoredPackage,
  actions: StoredAction[],
  below: StoredPackage | undefined,
) => ({
  namespace: of.namespace,
  name: of.name,
  version: of.version,
  publish: of.publish,
  ...shownPairs({ ...of, parameters: mergePairs(below?.parameters ?? [], of.parameters) }),
  binding: of.binding ?? {},
  actions: actions.map(({ name, version, annotations }) => ({ name, version, annotations })),
  feeds: [],
  updated: of.updated,
})
