import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collection } from '#core/collection.ts'
import type { Migration } from './migrations.ts'
import type { Store } from './store.ts'

interface Zone {
  name: string
  owner: string
  ttl: number
  parent?: string | null
  text?: string
}

const zones = collection<Zone>('zones', {
  called: 'Zone',
  key: 'name',
  indexes: ['owner', 'parent'],
  unique: [['owner', 'ttl']],
  reconciled: true,
})
const plain = collection<{ id: number; word: string }>('plain', { called: 'Word', key: 'id' })

const zone = (name: string, more: Partial<Zone> = {}): Zone => ({
  name,
  owner: `owner of ${name}`,
  ttl: 60,
  ...more,
})

export interface Place {
  /** Open what this place holds; several at once see the same. */
  open(options?: { migrations?: readonly Migration[] }): Promise<Store>
}

/** What every store promises, whatever it is made of. */
export const storeSuite = (newPlace: () => Promise<Place>) => {
  let store: Store
  const fresh = async () => (await newPlace()).open()
  const opened: Store[] = []
  beforeAll(async () => {
    store = await fresh()
    opened.push(store)
  })
  afterAll(() => Promise.all(opened.map((one) => one.close())))

  describe('records', () => {
    it('keeps what it is given, to the letter and in the order of its fields', async () => {
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
      const table = store.collection(zones)
      await expect(table.require('gone.test')).rejects.toMatchObject({
        status: 404,
        message: 'Zone gone.test was not found.',
      })
      await expect(table.update('gone.test', (z) => z)).rejects.toMatchObject({ status: 404 })
    })

    it('says which value is taken', async () => {
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
      const table = store.collection(zones)
      await table.put(zone('fixed.test'))
      await expect(table.update('fixed.test', (z) => ({ ...z, name: 'b' }))).rejects.toThrow(
        'Zone fixed.test cannot change its name to b.',
      )
    })

    it('compares values too long for an index', async () => {
      const table = (await use(fresh)).collection(zones)
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
      const table = (await use(fresh)).collection(zones)
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

    it('lists from a thousand alternatives', async () => {
      const table = (await use(fresh)).collection(zones)
      await table.put(zone('one'))
      const many = Array.from({ length: 40_000 }, (_, n) => `n${n}`)
      expect(await table.count({ name: [...many, 'one'] })).toBe(1)
    })
  })

  describe('writes at once', () => {
    it('loses no update', async () => {
      const table = store.collection(plain)
      await table.put({ id: 1, word: '' })
      const add = (letter: string) => table.update(1, (r) => ({ ...r, word: r.word + letter }))
      await Promise.all([...'abcdefghij'].map(add))
      expect([...(await table.require(1)).word].sort().join('')).toBe('abcdefghij')
    })

    it('gives every number once, from 1', async () => {
      const numbers = await Promise.all(Array.from({ length: 20 }, () => store.nextId('n')))
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
      expect(await store.nextId('other')).toBe(1)
    })
  })

  describe('transactions', () => {
    it('are all or nothing, and unseen until they end', async () => {
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
      const late = await store.transaction(async (tx) => tx.collection(plain))
      await expect(late.put({ id: 61, word: '' })).rejects.toThrow('after its end')
    })

    it('may be the first to use a collection', async () => {
      const other = await use(fresh)
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

  describe('claims', () => {
    const lease = (owner: string, now: number, limit = 10) => ({
      owner,
      now,
      until: now + 100,
      limit,
    })

    it('go to one owner until the lease ends', async () => {
      const other = await use(fresh)
      const table = other.collection(zones)
      const heard: string[] = []
      other.onDue((name) => heard.push(name))
      for (const name of ['a', 'b', 'c']) await table.put(zone(name))
      expect(heard).toEqual(['zones', 'zones', 'zones'])
      expect(await table.nextDue()).toBe(0)
      expect((await table.claim(lease('one', 1000, 2))).map((c) => c.key).sort()).toEqual([
        'a',
        'b',
      ])
      expect((await table.claim(lease('two', 1000))).map((c) => c.key)).toEqual(['c'])
      expect(await table.claim(lease('two', 1099))).toEqual([])
      expect(await table.nextDue()).toBe(1100)
      expect((await table.claim(lease('two', 1100, 1))).length).toBe(1)
    })

    it('settle: done, later, failed, removed', async () => {
      const table = (await use(fresh)).collection(zones)
      await table.put(zone('a'))
      const claim = async (now: number) => {
        const [one] = await table.claim(lease(`at ${now}`, now))
        if (!one) throw new Error('nothing due')
        return one
      }
      expect(await table.standing('a')).toEqual({ due: 0, attempts: 0 })
      const failed = { kind: 'failed', problem: 'No power.', due: 50 } as const
      expect(await table.settle(await claim(1), failed)).toBe(true)
      expect(await table.standing('a')).toEqual({ due: 50, attempts: 1, problem: 'No power.' })
      const again = await claim(50)
      expect(again.attempts).toBe(1)
      const later = { kind: 'done', change: (z: Zone) => ({ ...z, text: 'up' }), due: 70 } as const
      expect(await table.settle(again, later)).toBe(true)
      expect(await table.require('a')).toEqual({ ...zone('a'), text: 'up' })
      expect(await table.standing('a')).toEqual({ due: 70, attempts: 0 })
      expect(await table.settle(await claim(70), { kind: 'done' })).toBe(true)
      expect(await table.standing('a')).toEqual({ attempts: 0 })
      expect(await table.nextDue()).toBeUndefined()
      await table.update('a', (z) => ({ ...z, text: 'away' }))
      expect(await table.settle(await claim(80), { kind: 'remove' })).toBe(true)
      expect(await table.standing('a')).toBeUndefined()
    })

    it('do not write over a write, nor after the lease is lost', async () => {
      const table = (await use(fresh)).collection(zones)
      await table.put(zone('a'))
      const [stale] = await table.claim(lease('one', 0))
      if (!stale) throw new Error('nothing due')
      await table.update('a', (z) => ({ ...z, ttl: 9 }))
      expect(await table.claim(lease('two', 50))).toEqual([])
      const change = (z: Zone) => ({ ...z, text: 'old' })
      expect(await table.settle(stale, { kind: 'done', change })).toBe(false)
      expect(await table.standing('a')).toEqual({ due: 0, attempts: 0 })
      const [lost] = await table.claim(lease('two', 50))
      if (!lost) throw new Error('nothing due')
      expect(lost.record).toEqual(zone('a', { ttl: 9 }))
      expect(await table.extend(lost, 500)).toBe(true)
      expect(await table.claim(lease('three', 499))).toEqual([])
      const [taken] = await table.claim(lease('three', 500))
      expect(taken?.key).toBe('a')
      expect(await table.extend(lost, 900)).toBe(false)
      expect(await table.settle(lost, { kind: 'remove' })).toBe(false)
      if (taken) expect(await table.extend(taken, 0)).toBe(true)
      expect(await table.claim(lease('four', 501))).toHaveLength(1)
    })

    it('never give one record to two', async () => {
      const table = (await use(fresh)).collection(zones)
      for (let n = 0; n < 40; n++) await table.put(zone(`n${n}`))
      const owners = Array.from({ length: 8 }, (_, n) => table.claim(lease(`o${n}`, 1, 5)))
      const keys = (await Promise.all(owners)).flat().map((claim) => claim.key)
      expect(new Set(keys).size).toBe(keys.length)
      expect(keys.length).toBe(40)
    })
  })

  describe('declarations', () => {
    it('cannot contradict each other', async () => {
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

  /** A store for one test, closed at the end of all. */
  const use = async (open: () => Promise<Store>) => {
    const one = await open()
    opened.push(one)
    return one
  }
}

/** What holds of a store that can be opened again. */
export const lastingSuite = (newPlace: () => Promise<Place>) => {
  describe('declarations', () => {
    it('may change: records are kept, found and checked anew', async () => {
      const place = await newPlace()
      const before = await place.open()
      const old = collection<Zone>('zones', { called: 'Zone', key: 'name', unique: [['ttl']] })
      await before.collection(old).put(zone('a', { owner: 'ann' }))
      expect(await before.collection(old).nextDue()).toBeUndefined()
      await before.close()
      const after = await place.open()
      const table = after.collection(zones)
      expect(await table.find({ owner: 'ann' })).toMatchObject({ name: 'a' })
      expect(await table.nextDue()).toBe(0)
      await table.insert(zone('b', { owner: 'bob' }))
      await expect(table.insert(zone('c', { owner: 'bob' }))).rejects.toThrow('already exists')
      await after.close()
    })
  })

  describe('migrations', () => {
    const first: Migration[] = [async () => {}]
    const note: Migration = async (db) => {
      await db.write(`CREATE TABLE ${db.dialect.table('cove_note')} (word TEXT)`)
    }

    it('run once, in order, and a newer store is refused', async () => {
      const place = await newPlace()
      await (await place.open({ migrations: first })).close()
      await (await place.open({ migrations: [...first, note] })).close()
      await (await place.open({ migrations: [...first, note] })).close()
      await expect(place.open({ migrations: first })).rejects.toThrow(
        /was written by a newer Cove \(data format 2, this one knows up to 1\)/,
      )
    })

    it('that fail change nothing', async () => {
      const place = await newPlace()
      await (await place.open({ migrations: first })).close()
      const broken: Migration = async () => {
        throw new Error('half way')
      }
      await expect(place.open({ migrations: [...first, note, broken] })).rejects.toThrow('half way')
      await (await place.open({ migrations: [...first, note] })).close()
    })
  })
}
