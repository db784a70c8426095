import { describe, expect, it } from 'vitest'

import type { Store } from '../store.ts'
import { plain, zone, zones } from './place.ts'

export const transactions = (open: () => Promise<Store>) => {
  describe('transactions', () => {
    it('are all or nothing, and unseen until they end', async () => {
      const store = await open()
      const table = store.collection(plain)
      const work = store.transaction(async (tx) => {
        const inside = tx.collection(plain)
        await inside.put({ id: 100, word: 'half' })
        expect(await inside.get(100)).toEqual({ id: 100, word: 'half' })
        expect(await tx.nextId('inside')).toBeGreaterThan(0)
        throw new Error('changed my mind')
      })
      const seen = table.get(100)
      await expect(work).rejects.toThrow('changed my mind')
      expect(await seen).toBeUndefined()
      expect(await table.get(100)).toBeUndefined()
    })

    it('go on after a conflict that the work answered', async () => {
      const store = await open()
      const table = store.collection(zones)
      await table.put(zone('held.test', { owner: 'eve', ttl: 1 }))
      await store.transaction(async (tx) => {
        const inside = tx.collection(zones)
        const clash = inside.put(zone('new.test', { owner: 'eve', ttl: 1 }))
        await expect(clash).rejects.toThrow('Zone with owner "eve" and ttl 1 already exists.')
        await expect(inside.insert(zone('held.test'))).rejects.toThrow('already exists')
        await inside.put(zone('new.test', { owner: 'eve', ttl: 2 }))
      })
      expect(await table.require('new.test')).toMatchObject({ ttl: 2 })
    })

    it('read and write as if alone', async () => {
      const store = await open()
      const table = store.collection(plain)
      await table.put({ id: 50, word: '0' })
      const increment = () =>
        store.transaction(async (tx) => {
          const inside = tx.collection(plain)
          const { word } = await inside.require(50)
          await inside.put({ id: 50, word: String(Number(word) + 1) })
        })
      await Promise.all(Array.from({ length: 8 }, increment))
      expect(await table.require(50)).toEqual({ id: 50, word: '8' })
    })

    it('fail as a whole when a part fails, even if that is caught', async () => {
      const store = await open()
      const table = store.collection(plain)
      const work = store.transaction(async (tx) => {
        const part = tx.transaction(async (inner) => {
          await inner.collection(plain).put({ id: 60, word: 'part' })
          throw new Error('part failed')
        })
        await part.catch(() => 'answered')
      })
      await expect(work).rejects.toThrow('part failed')
      expect(await table.get(60)).toBeUndefined()
    })

    it('cannot be used after their end', async () => {
      const store = await open()
      const late = await store.transaction(async (tx) => tx.collection(plain))
      await expect(late.put({ id: 61, word: '' })).rejects.toThrow('after its end')
    })

    it('may be the first to use a collection', async () => {
      const other = await open()
      const failed = other.transaction(async (tx) => {
        await tx.collection(plain).put({ id: 1, word: 'x' })
        throw new Error('no')
      })
      await expect(failed).rejects.toThrow('no')
      await other.transaction(
        async (tx) => void (await tx.collection(plain).put({ id: 2, word: 'y' })),
      )
      expect(await other.collection(plain).list()).toEqual([{ id: 2, word: 'y' }])
    })
  })
}
