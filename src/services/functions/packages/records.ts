import { collection } from '#core/collection.ts'
import type { KeyValue } from '../actions/contract.ts'
import type { Binding } from './contract.ts'

export const packageId = (namespace: string, name: string): string => `${namespace}/${name}`

export interface StoredPackage {
  /** `<namespace>/<name>` */
  id: string
  namespace: string
  name: string
  version: string
  publish: boolean
  annotations: KeyValue[]
  parameters: KeyValue[]
  binding: Binding | null
  updated: number
}

export const storedPackages = collection<StoredPackage>('function_packages', {
  called: 'Package',
  key: 'id',
  indexes: ['namespace', 'publish'],
})
