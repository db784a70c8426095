import { collection } from '#core/collection.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Store } from './store/store.ts'

/** A stretch of time in which a resource ran at one price. */
export interface UsageRecord {
  id: number
  /** `cove:database:9cc1…` */
  urn: string
  product: string
  description: string
  /** US dollars an hour that the public cloud would charge. */
  hourly: number
  started_at: string
  ended_at: string | null
}

export const usageRecords = collection<UsageRecord>('usage', {
  called: 'Usage record',
  key: 'id',
  indexes: ['urn', 'ended_at'],
})

/** Records what really ran; the bill is computed from it. */
export interface Meter {
  start(
    usage: Pick<UsageRecord, 'urn' | 'product' | 'description' | 'hourly'>,
    store?: Store,
  ): Promise<void>
  /** Ends what runs under the name, if anything does. */
  stop(urn: string, store?: Store): Promise<void>
}

export const createMeter = (store: Store, clock: Clock): Meter => {
  const stop = async (urn: string, on: Store = store) => {
    const usage = on.collection(usageRecords)
    for (const open of await usage.list({ where: { urn, ended_at: null } })) {
      await usage.update(open.id, (record) => ({ ...record, ended_at: timestamp(clock) }))
    }
  }
  return {
    stop,
    start: async (usage, on = store) => {
      await stop(usage.urn, on)
      await on.collection(usageRecords).insert({
        id: await on.nextId('usage'),
        ...usage,
        started_at: timestamp(clock),
        ended_at: null,
      })
    },
  }
}
