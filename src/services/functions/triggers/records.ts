import { collection } from '#core/collection.ts'
import type { Trigger } from './contract.ts'

export const triggerId = (namespace: string, name: string): string => `${namespace}/${name}`

export interface StoredTrigger extends Omit<Trigger, 'scheduled_runs'> {
  /** `<namespace>/<name>` */
  id: string
  last_run_at: string | null
  /** The next tick, in ms since the epoch; null while disabled. */
  next: number | null
}

export const storedTriggers = collection<StoredTrigger>('function_triggers', {
  called: 'Trigger',
  key: 'id',
  indexes: ['namespace'],
  reconciled: true,
})
