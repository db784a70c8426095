import { collection } from '#core/collection.ts'
import type { Store } from '#platform/store/store.ts'
import type { BalancerSettings } from './contract.ts'

/** A load balancer as it is kept. */
export interface BalancerState {
  id: string
  name: string
  created_at: string
  status: 'new' | 'active' | 'errored'
  /** The address it listens on; the API shows it once it does. */
  address: string
  settings: BalancerSettings
  /** Of the settings: found by it when the tag's instances change. */
  tag: string
  /** Why it is not in force. */
  problem?: string
  deleting: boolean
  /** Grows when something it depends on has changed. */
  stirred: number
}

export const balancerRecords = collection<BalancerState>('load_balancers', {
  called: 'Load balancer',
  key: 'id',
  indexes: ['name', 'tag', 'deleting'],
  reconciled: true,
})

/** Have load balancers looked at again, because something they depend on has changed. */
export const stir = async (
  store: Store,
  which: (state: BalancerState) => boolean,
): Promise<void> => {
  const table = store.collection(balancerRecords)
  for (const state of await table.list({ where: { deleting: false } })) {
    if (!which(state)) continue
    await table.update(state.id, (current) => ({ ...current, stirred: current.stirred + 1 }))
  }
}

export const certificatesOf = ({ settings }: BalancerState): string[] =>
  [...settings.forwarding_rules, ...settings.domains].flatMap(({ certificate_id: id }) => id || [])

/** An instance that is gone is behind no load balancer. */
export const forgetInstance = async (store: Store, instance: number): Promise<void> => {
  const table = store.collection(balancerRecords)
  for (const { id, settings } of await table.list({ where: { deleting: false } })) {
    if (!settings.droplet_ids.includes(instance)) continue
    await table.update(id, (state) => ({
      ...state,
      settings: {
        ...state.settings,
        droplet_ids: state.settings.droplet_ids.filter((each) => each !== instance),
      },
    }))
  }
}

/** The name of a load balancer's host in the fabric. */
export const balancerHost = (id: string): string => `b${id.replaceAll('-', '').slice(0, 13)}`

/** Its address there, which firewalls know it by: made from the one on this machine. */
export const balancerAddress = (address: string): string => address.replace(/^127\./, '100.')
