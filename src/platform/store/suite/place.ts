import { afterAll } from 'vitest'
import { collection } from '#core/collection.ts'
import type { Migration } from '../migrations.ts'
import type { Store } from '../store.ts'

/** Where a store keeps its records. */
export interface Place {
  /** Open what this place holds; several at once see the same. */
  open(options?: { migrations?: readonly Migration[] }): Promise<Store>
}

/** Opens a new store for a test; all are closed at the end. */
export const opening = (newPlace: () => Promise<Place>) => {
  const opened: Store[] = []
  afterAll(() => Promise.all(opened.map((store) => store.close())))
  return async () => {
    const store = await (await newPlace()).open()
    opened.push(store)
    return store
  }
}

export interface Zone {
  name: string
  owner: string
  ttl: number
  parent?: string | null
  text?: string
}

export const zones = collection<Zone>('zones', {
  called: 'Zone',
  key: 'name',
  indexes: ['owner', 'parent'],
  unique: [['owner', 'ttl']],
  reconciled: true,
})
export const plain = collection<{ id: number; word: string }>('plain', {
  called: 'Word',
  key: 'id',
})

export const zone = (name: string, more: Partial<Zone> = {}): Zone => ({
  name,
  owner: `owner of ${name}`,
  ttl: 60,
  ...more,
})
