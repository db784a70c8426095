import { collection } from '#core/collection.ts'
import type { Certificate } from './contract.ts'

/** A certificate as it is kept. */
export type CertificateState = Certificate & {
  /** Leaf and chain, leaf first. */
  chain?: string
  /** The private key, encrypted. */
  sealed_key?: string
  /** Why the last attempt to issue it failed. */
  problem?: string
  /** Issued anew: whoever serves it has yet to take it. */
  to_distribute?: boolean
}

export const certificateRecords = collection<CertificateState>('certificates', {
  called: 'Certificate',
  key: 'id',
  indexes: ['name'],
  unique: [['name']],
  reconciled: true,
})

/** What a private key is sealed under. */
export const keyLabel = (id: string): string => `certificate ${id}`
