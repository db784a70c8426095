import { describe, expect, it } from 'vitest'
import { collection } from '#core/collection.ts'
import type { Migration } from '../migrations.ts'
import { type Place, plain, type Zone, zone, zones } from './place.ts'

/** What holds of a store that can be opened again, and by several at once. */
export const lasting = (newPlace: () => Promise<Place>) => {
  it('shows all who have it open the same', async () => {
    const place = await newPlace()
    const [one, two] = [await place.open(), await place.open()]
    await one.collection(plain).insert({ id: await one.nextId('plain'), word: 'one' })
    await two.collection(plain).insert({ id: await two.nextId('plain'), word: 'two' })
    expect(await one.collection(plain).list()).toEqual(await two.collection(plain).list())
    const add = (letter: string, n: number) =>
      (n % 2 ? one : two).collection(plain).update(1, (r) => ({ ...r, word: r.word + letter }))
    await Promise.all([...'abcdefgh'].map(add))
    expect((await two.collection(plain).require(1)).word).toHaveLength(11)
    await Promise.all([one.close(), two.close()])
  })

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
