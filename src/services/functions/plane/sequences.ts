import { ApiError } from '#core/error.ts'
import { actionId, type StoredAction, storedActions } from '../actions/records.ts'
import { packageId, storedPackages } from '../packages/records.ts'
import type { Ground } from './ground.ts'
import { type ActionPath, fullPath, parseActionPath } from './names.ts'

export interface Sequences {
  /** The components by their full names, or why they make no sequence. */
  check(path: ActionPath, components: string[]): Promise<string[]>
}

/** Finds what a component stands for: through a package binding, where its package is one. */
export const findAction = async (
  { store }: Pick<Ground, 'store'>,
  path: ActionPath,
): Promise<StoredAction | undefined> => {
  const direct = await store
    .collection(storedActions)
    .get(actionId(path.namespace, path.package, path.name))
  if (direct) return direct
  const pack = await store.collection(storedPackages).get(packageId(path.namespace, path.package))
  if (!pack?.binding) return undefined
  const { namespace, name } = pack.binding
  return store.collection(storedActions).get(actionId(namespace, name, path.name))
}

export const createSequences = (ground: Ground): Sequences => {
  /** How many single actions it comes to; a way back to `start` is refused. */
  const countOf = async (component: string, own: string, start: string): Promise<number> => {
    const path = parseActionPath(component, own)
    if (fullPath(path) === start) throw ApiError.badRequest('Sequence may not refer to itself.')
    const found = await findAction(ground, path)
    if (!found) throw ApiError.badRequest('Sequence component does not exist.')
    let sum = 0
    for (const inner of found.exec.components ?? []) sum += await countOf(inner, own, start)
    return found.exec.kind === 'sequence' ? sum : 1
  }
  return {
    check: async (path, components) => {
      if (components.length === 0)
        throw ApiError.badRequest('No component specified for the sequence.')
      let count = 0
      for (const component of components) {
        count += await countOf(component, path.namespace, fullPath(path))
        if (count > ground.settings.sequence)
          throw ApiError.badRequest('Too many actions in the sequence.')
      }
      return components.map((text) => `/${fullPath(parseActionPath(text, path.namespace))}`)
    },
  }
}
