import { collection } from '#core/collection.ts'
import type { ByoipPrefix } from './contract.ts'

/** A prefix as it is kept, with what proves the right to it. */
export interface PrefixRecord extends ByoipPrefix {
  signature: string
}

export const prefixRecords = collection<PrefixRecord>('byoip_prefixes', {
  called: 'BYOIP prefix',
  key: 'uuid',
  indexes: ['status'],
  reconciled: true,
})
