import { collection } from '#core/collection.ts'
import type { AccessKey } from './contract.ts'

export interface StoredAccessKey extends AccessKey {
  namespace: string
  /** SHA-256 of the secret. */
  hash: string
}

export const storedAccessKeys = collection<StoredAccessKey>('function_access_keys', {
  called: 'Access key',
  key: 'id',
  indexes: ['namespace'],
  unique: [['namespace', 'name']],
})

const hour = 3_600_000

/** ms that an `ExpiresIn` stands for. */
export const lifetime = (text: string): number =>
  Number.parseInt(text, 10) * (text.endsWith('d') ? 24 * hour : hour)
