import { createHash } from 'node:crypto'
import type { Key } from './store.ts'

/** A declared collection, whatever its records are. */
export interface Spec {
  readonly name: string
  readonly called: string
  readonly key: string
  readonly indexes: readonly string[]
  readonly unique: readonly (readonly string[])[]
  readonly reconciled: boolean
}

/** The fields that have a column of their own, in a fixed order. */
export const fieldsOf = ({ indexes, unique }: Pick<Spec, 'indexes' | 'unique'>): string[] => [
  ...new Set([...indexes, ...unique.flat()]),
]

export const columnOf = (field: string): string => `"f_${field}"`

/** No database index takes arbitrarily long values, so a long one is compared by its digest. */
const longest = 500

/**
 * A field as its column holds it: its JSON, so that 1, "1" and true stay apart and no character
 * is beyond a database. No value is no value: it equals only itself and is never taken.
 */
export const encode = (value: unknown): string | null => {
  if (value === undefined || value === null) return null
  const json = JSON.stringify(value)
  return json.length <= longest ? json : createHash('sha256').update(json).digest('base64')
}

/** PostgreSQL has no place for the zero character. */
export const encodeKey = (key: Key): string => String(key).replaceAll('\0', '\ufffd')
