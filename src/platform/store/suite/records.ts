import { describe, expect, it } from 'vitest'
import { collection } from '#core/collection.ts'
import type { Store } from '../store.ts'
import { plain, zone, zones } from './place.ts'

export const records = (open: () => Promise<Store>) => {
  describe('records', () => {
    it('keeps what it is given, to the letter and in the order of its fields', async () => {
      const store = await open()
      const table = store.collection(plain)
      const word = { word: 'b\0\u{1f600}\ud800"\\ ?', id: 7 }
      await table.insert(word)
      expect(JSON.stringify(await table.get(7))).toBe(JSON.stringify(word))
      expect(await table.get('7')).toEqual(word)
      expect(await table.get('7\0')).toBeUndefined()
      expect(await table.remove(7)).toBe(true)
      expect(await table.remove(7)).toBe(false)
      expect(await table.get(7)).toBeUndefined()
    })

    it('says what was not found', async () => {
      const store = await open()
      const table = store.collection(zones)
      await expect(table.require('gone.test')).rejects.toMatchObject({
        status: 404,
        message: 'Zone gone.test was not found.',
      })
      await expect(table.update('gone.test', (z) => z)).rejects.toMatchObject({ status: 404 })
    })

    it('says which value is taken', async () => {
      const store = await open()
      const table = store.collection(zones)
      await table.insert(zone('taken.test', { owner: 'ann', ttl: 5 }))
      const conflict = (message: string) => ({ status: 409, message })
      await expect(table.insert(zone('taken.test'))).rejects.toMatchObject(
        conflict('Zone with name "taken.test" already exists.'),
      )
      const clash = conflict('Zone with owner "ann" and ttl 5 already exists.')
      const other = zone('other.test', { owner: 'ann', ttl: 5 })
      await expect(table.insert(other)).rejects.toMatchObject(clash)
      await expect(table.put(other)).rejects.toMatchObject(clash)
      await table.put({ ...other, ttl: 6 })
      await expect(table.update('other.test', (z) => ({ ...z, ttl: 5 }))).rejects.toMatchObject(
        clash,
      )
      expect(await table.require('other.test')).toMatchObject({ ttl: 6 })
    })

    it('refuses to change a key', async () => {
      const store = await open()
      const table = store.collection(zones)
      await table.put(zone('fixed.test'))
      await expect(table.update('fixed.test', (z) => ({ ...z, name: 'b' }))).rejects.toThrow(
        'Zone fixed.test cannot change its name to b.',
      )
    })

    it('compares values too long for an index', async () => {
      const table = (await open()).collection(zones)
      const long = 'x'.repeat(100_000)
      await table.insert(zone('long.test', { owner: long }))
      expect(await table.count({ owner: long })).toBe(1)
      expect(await table.count({ owner: `${long}x` })).toBe(0)
      await expect(table.insert(zone('again.test', { owner: long }))).rejects.toThrow(
        'already exists',
      )
    })
  })

  describe('lists', () => {
    it('filters, orders, pages and counts', async () => {
      const table = (await open()).collection(zones)
      for (let n = 0; n < 6; n++)
        await table.insert(
          zone(`z${n}`, { owner: n % 2 ? 'odd' : 'even', ttl: n, parent: n < 2 ? 'p' : null }),
        )
      const names = async (...query: Parameters<typeof table.list>) =>
        (await table.list(...query)).map((z) => z.name).join(' ')
      await table.put(zone('z0', { owner: 'even', ttl: 0, parent: 'p' }))
      expect(await names()).toBe('z0 z1 z2 z3 z4 z5')
      expect(await names({ newestFirst: true, limit: 2, offset: 1 })).toBe('z4 z3')
      expect(await names({ where: { owner: 'odd' } })).toBe('z1 z3 z5')
      expect(await names({ where: { owner: ['odd', 'even'], ttl: [1, 2] } })).toBe('z1 z2')
      expect(await names({ where: { name: ['z5', 'z4', 'none'] } })).toBe('z4 z5')
      expect(await names({ where: { owner: [] } })).toBe('')
      expect(await names({ where: { parent: undefined } })).toBe('z2 z3 z4 z5')
      expect(await names({ where: { parent: ['p', null], owner: 'odd' } })).toBe('z1 z3 z5')
      expect(await table.find({ owner: 'odd' })).toMatchObject({ name: 'z1' })
      expect(await table.count()).toBe(6)
      expect(await table.count({ owner: 'odd' })).toBe(3)
      await expect(table.list({ where: { text: 'x' } })).rejects.toThrow(
        'zones cannot be found by text: declare it among the indexes (now: name, owner, parent, ttl).',
      )
    })

    it('finds one of forty thousand alternatives', async () => {
      const table = (await open()).collection(zones)
      await table.put(zone('one'))
      const many = Array.from({ length: 40_000 }, (_, n) => `n${n}`)
      expect(await table.count({ name: [...many, 'one'] })).toBe(1)
    })
  })

  describe('writes at once', () => {
    it('loses no update', async () => {
      const store = await open()
      const table = store.collection(plain)
      await table.put({ id: 1, word: '' })
      const add = (letter: string) => table.update(1, (r) => ({ ...r, word: r.word + letter }))
      await Promise.all([...'abcdefghij'].map(add))
      expect([...(await table.require(1)).word].sort().join('')).toBe('abcdefghij')
    })

    it('gives every number once, from 1', async () => {
      const store = await open()
      const numbers = await Promise.all(Array.from({ length: 20 }, () => store.nextId('n')))
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
      expect(await store.nextId('other')).toBe(1)
    })
  })

  describe('declarations', () => {
    it('cannot contradict each other', async () => {
      const store = await open()
      store.collection(plain)
      const other = collection<{ id: number; word: string }>('plain', {
        called: 'Word',
        key: 'id',
        indexes: ['word'],
      })
      expect(() => store.collection(other)).toThrow('The collection plain is declared twice')
      expect(() => store.collection({ ...plain, name: 'Bad-Name' })).toThrow('cannot be named')
    })
  })
}
