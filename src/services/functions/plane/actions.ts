import { ApiError } from '#core/error.ts'
import type { ActionChange, KeyValue } from '../actions/contract.ts'
import {
  actionId,
  folderOf,
  noPackage,
  type StoredAction,
  storedActions,
  storedCodes,
} from '../actions/records.ts'
import { packageId, storedPackages } from '../packages/records.ts'
import { type TakenExec, takeExec, takeLimits } from './exec.ts'
import { faults } from './faults.ts'
import type { Ground } from './ground.ts'
import { type ActionPath, checkName, nextVersion, shortPath } from './names.ts'
import { checkSize, mergePairs } from './parameters.ts'
import type { Sequences } from './sequences.ts'

/** Actions of all namespaces. */
export const createActions = (ground: Ground, sequences: Sequences, changed: () => void) => {
  const { store, clock, invoker, settings } = ground
  const actions = store.collection(storedActions)
  const codes = store.collection(storedCodes)
  const packages = store.collection(storedPackages)

  const codeOf = async (action: StoredAction): Promise<string> =>
    action.code === null ? '' : ((await codes.get(action.code))?.text ?? '')

  const checkPlace = async (path: ActionPath) => {
    checkName(path.name)
    if (path.package === noPackage) return
    const found = await packages.get(packageId(path.namespace, path.package))
    if (!found) throw faults.missing()
    if (found.binding) throw faults.bindingOnly()
  }

  /** What the action runs after the change; undefined when that stays as it is. */
  const taken = async (path: ActionPath, change: ActionChange): Promise<TakenExec | undefined> => {
    if (!change.exec) return undefined
    if (change.exec.kind !== 'sequence') return takeExec(ground, change.exec)
    const components = await sequences.check(path, change.exec.components ?? [])
    return { exec: { kind: 'sequence', binary: false, components }, code: null }
  }

  return {
    codeOf,

    get: async (path: ActionPath): Promise<StoredAction> => {
      const found = await actions.get(actionId(path.namespace, path.package, path.name))
      if (found) return found
      const isPackage =
        path.package === noPackage && (await packages.get(packageId(path.namespace, path.name)))
      throw isPackage ? faults.otherCollection() : faults.missing()
    },

    list: (namespace: string, pack: string | undefined, limit: number, skip: number) =>
      actions.list({
        where: pack === undefined ? { namespace } : { folder: folderOf(namespace, pack) },
        newestFirst: true,
        limit,
        offset: skip,
      }),

    count: (namespace: string) => actions.count({ namespace }),

    put: async (
      path: ActionPath,
      change: ActionChange,
      overwrite: boolean,
    ): Promise<StoredAction> => {
      await checkPlace(path)
      const id = actionId(path.namespace, path.package, path.name)
      if (!overwrite && (await actions.get(id))) throw faults.exists()
      const fresh = await taken(path, change)
      checkSize(change.parameters ?? [], 'Parameters', settings.payload)
      if (fresh && fresh.exec.kind !== 'sequence') await invoker.prepare(programOf(fresh))
      const written = await store.transaction(async (tx) => {
        const table = tx.collection(storedActions)
        const current = await table.get(id)
        if (current && !overwrite) throw faults.exists()
        if (
          path.package === noPackage &&
          (await tx.collection(storedPackages).get(packageId(path.namespace, path.name)))
        )
          throw faults.otherCollection()
        if (!current && !fresh) throw ApiError.badRequest('exec undefined')
        const next = nextOf(path, current, change, fresh, clock.now())
        if (fresh?.code) await tx.collection(storedCodes).put(fresh.code)
        // Lists go by what was written last.
        if (current) await table.remove(id)
        await table.insert(next)
        if (current && current.code !== next.code) await dropCode(tx, current.code)
        return next
      })
      changed()
      invoker.evict(path.namespace, shortPath(path))
      return written
    },

    remove: async (path: ActionPath): Promise<StoredAction> => {
      const id = actionId(path.namespace, path.package, path.name)
      const removed = await store.transaction(async (tx) => {
        const current = await tx.collection(storedActions).get(id)
        if (!current) throw faults.missing()
        await tx.collection(storedActions).remove(id)
        await dropCode(tx, current.code)
        return current
      })
      changed()
      invoker.evict(path.namespace, shortPath(path))
      return removed
    },
  }
}

export type Actions = ReturnType<typeof createActions>

/** Code that does not compile, unpack or exist is told when it is sent. */
const programOf = ({ exec: { kind, main, binary, image }, code }: TakenExec) => ({
  kind,
  main: main || 'main',
  binary,
  ...(image ? { image } : {}),
  codeHash: code?.hash ?? '',
  code: async () => code?.text ?? '',
})

/** Code that no action has any more. */
export const dropCode = async (tx: Ground['store'], hash: string | null) => {
  if (hash === null || (await tx.collection(storedActions).find({ code: hash }))) return
  await tx.collection(storedCodes).remove(hash)
}

const nextOf = (
  path: ActionPath,
  current: StoredAction | undefined,
  change: ActionChange,
  fresh: TakenExec | undefined,
  now: number,
): StoredAction => {
  const exec = fresh?.exec ?? current?.exec ?? { kind: '', binary: false }
  const kept = (current?.annotations ?? []).filter(
    ({ key }) => !change.delAnnotations?.includes(key),
  )
  const standing: KeyValue[] = current ? [] : [{ key: 'provide-api-key', value: false }]
  return {
    id: actionId(path.namespace, path.package, path.name),
    namespace: path.namespace,
    folder: folderOf(path.namespace, path.package),
    package: path.package,
    name: path.name,
    version: current ? nextVersion(current.version) : '0.0.1',
    publish: change.publish ?? current?.publish ?? false,
    exec,
    code: fresh ? (fresh.code?.hash ?? null) : (current?.code ?? null),
    annotations: mergePairs(standing, kept, change.annotations ?? [], [
      { key: 'exec', value: exec.kind },
    ]),
    parameters: change.parameters ?? current?.parameters ?? [],
    limits: takeLimits(change.limits ?? {}, current?.limits),
    updated: now,
  }
}

const head = (of: StoredAction) => ({
  namespace: of.package === noPackage ? of.namespace : folderOf(of.namespace, of.package),
  name: of.name,
  version: of.version,
  publish: of.publish,
  annotations: of.annotations,
  limits: of.limits,
  updated: of.updated,
})

/** As lists show it. */
export const actionSummary = (of: StoredAction) => ({
  ...head(of),
  exec: { binary: of.exec.binary },
})

/** As itself, with its code where asked for. */
export const actionView = (of: StoredAction, parameters: KeyValue[], code?: string) => ({
  ...head(of),
  parameters:
    of.exec.kind === 'sequence'
      ? mergePairs(parameters, [{ key: '_actions', value: of.exec.components ?? [] }])
      : parameters,
  exec: { ...of.exec, ...(code === undefined || of.code === null ? {} : { code }) },
})
