import { collection } from '#core/collection.ts'
import type { KeyValue, Limits } from './contract.ts'

export interface StoredAction {
  /** `<namespace>/<package or _>/<name>` */
  id: string
  namespace: string
  /** `<namespace>/<package or _>` */
  folder: string
  package: string
  name: string
  version: string
  publish: boolean
  exec: { kind: string; main?: string; image?: string; binary: boolean; components?: string[] }
  /** Fingerprint of the code, which is kept apart. */
  code: string | null
  annotations: KeyValue[]
  parameters: KeyValue[]
  limits: Limits
  updated: number
}

export const storedActions = collection<StoredAction>('function_actions', {
  called: 'Action',
  key: 'id',
  indexes: ['namespace', 'folder', 'code'],
})

/** Code by its fingerprint: records stay small, and equal code is kept once. */
export interface StoredCode {
  hash: string
  text: string
}

export const storedCodes = collection<StoredCode>('function_codes', { called: 'Code', key: 'hash' })

/** Where actions outside any package are. */
export const noPackage = '_'

export const folderOf = (namespace: string, pack: string): string => `${namespace}/${pack}`

export const actionId = (namespace: string, pack: string, name: string): string =>
  `${namespace}/${pack}/${name}`
