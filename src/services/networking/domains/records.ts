import { collection } from '#core/collection.ts'
import type { DomainRecord } from './contract.ts'

/** A zone as it is kept; its serial grows with every change of a record. */
export interface ZoneState {
  name: string
  ttl: number
  serial: number
}

export const zones = collection<ZoneState>('domains', { called: 'Domain', key: 'name' })

/** A record as it is kept; `name` is relative to its domain, `@` for the domain itself. */
export type RecordState = DomainRecord & { domain: string }

export const zoneRecords = collection<RecordState>('domain_records', {
  called: 'Domain record',
  key: 'id',
  indexes: ['domain', 'name', 'type'],
})
