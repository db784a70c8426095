import { collection } from '#core/collection.ts'

export interface StoredNamespace {
  namespace: string
  uuid: string
  label: string
  region: string
  key: string
  /** Of a cluster elsewhere; actions of such a namespace are not kept here. */
  remote?: { api_host: string; user: string }
  created_at: string
  updated_at: string
}

export const storedNamespaces = collection<StoredNamespace>('function_namespaces', {
  called: 'Namespace',
  key: 'namespace',
  indexes: ['uuid'],
})
