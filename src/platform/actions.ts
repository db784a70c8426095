import { collection } from '#core/collection.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Store } from './store/store.ts'

/** Something the platform was asked to bring about: the account's log of operations. */
export interface ActionRecord {
  id: number
  status: 'in-progress' | 'completed' | 'errored'
  type: string
  started_at: string
  completed_at: string | null
  /** Numeric where the resource has a number, else null; `urn` names it always. */
  resource_id: number | null
  resource_type: string
  region_slug: string | null
  urn: string
}

export const actionRecords = collection<ActionRecord>('actions', {
  called: 'Action',
  key: 'id',
  indexes: ['urn', 'status'],
})

export interface ActionLog {
  begin(what: ActionSubject, store?: Store): Promise<ActionRecord>
  end(id: number, status: 'completed' | 'errored', store?: Store): Promise<void>
  /** Something that is done as soon as it is asked. */
  record(what: ActionSubject, store?: Store): Promise<ActionRecord>
}

export interface ActionSubject {
  /** The verb: `create`, `assign_ip`, `resize`. */
  type: string
  resource_type: string
  resource_id?: number | string | null
  region_slug?: string | null
}

/** The log takes the transaction's store, so that an operation and its record stand or fall together. */
export const createActionLog = (store: Store, clock: Clock): ActionLog => {
  const write = async (what: ActionSubject, status: ActionRecord['status'], on: Store) => {
    const id = what.resource_id ?? null
    return on.collection(actionRecords).insert({
      id: await on.nextId('actions'),
      status,
      type: what.type,
      started_at: timestamp(clock),
      completed_at: status === 'in-progress' ? null : timestamp(clock),
      resource_id: typeof id === 'number' ? id : null,
      resource_type: what.resource_type,
      region_slug: what.region_slug ?? null,
      urn: `cove:${what.resource_type}:${id ?? ''}`,
    })
  }
  return {
    begin: (what, on = store) => write(what, 'in-progress', on),
    record: (what, on = store) => write(what, 'completed', on),
    end: async (id, status, on = store) => {
      await on
        .collection(actionRecords)
        .update(id, (action) => ({ ...action, status, completed_at: timestamp(clock) }))
    },
  }
}
