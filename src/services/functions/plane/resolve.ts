import type { KeyValue } from '../actions/contract.ts'
import { noPackage, type StoredAction } from '../actions/records.ts'
import type { Actions } from './actions.ts'
import { faults } from './faults.ts'
import type { ActionPath } from './names.ts'
import type { Packages } from './packages.ts'
import { mergePairs } from './parameters.ts'

/** An action as a caller reaches it. */
export interface Resolved {
  action: StoredAction
  /** Package, then binding, then action: later ones win. */
  parameters: KeyValue[]
  /** The binding it was reached through, as `namespace/name`. */
  binding?: string
}

/** Find an action for a namespace: its own, or one in a package that another shares. */
export const createResolve =
  (actions: Actions, packages: Packages) =>
  async (own: string, path: ActionPath): Promise<Resolved> => {
    if (path.package === noPackage) {
      if (path.namespace !== own) throw faults.notYours(`${path.namespace}/${path.name}`)
      const action = await actions.get(path)
      return { action, parameters: action.parameters }
    }
    if (path.namespace !== own) {
      const shared = await packages.get(path.namespace, path.package).catch(() => undefined)
      if (!shared?.publish) throw faults.notYours(`${path.namespace}/${path.package}`)
    }
    const pack = await packages.get(path.namespace, path.package)
    if (!pack.binding) {
      const action = await actions.get(path)
      return { action, parameters: mergePairs(pack.parameters, action.parameters) }
    }
    const { namespace, name } = pack.binding
    const below = await packages.get(namespace, name)
    if (namespace !== own && !below.publish) throw faults.notYours(`${namespace}/${name}`)
    const action = await actions.get({ namespace, package: name, name: path.name })
    return {
      action,
      parameters: mergePairs(below.parameters, pack.parameters, action.parameters),
      binding: `${path.namespace}/${path.package}`,
    }
  }

export type Resolve = ReturnType<typeof createResolve>
