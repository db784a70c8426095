import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collection } from '#core/collection.ts'
import { startPostgres, type TestPostgres } from '../../../test/postgres.ts'
import { openPostgres } from './postgres.ts'
import { lastingStoreSuite } from './store.suite.ts'
import type { Store } from './store.ts'
import type { Place } from './suite/place.ts'

const words = collection<{ id: number; word: string }>('words', { called: 'Word', key: 'id' })

describe('a store in PostgreSQL', () => {
  let server: TestPostgres
  let databases = 0
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  const newPlace = async (): Promise<Place> => {
    const url = await server.createDatabase(`cove_${++databases}`)
    return { open: (options) => openPostgres(url, options) }
  }
  lastingStoreSuite(newPlace)

  it('is laid out once by processes that start together', async () => {
    const place = await newPlace()
    const stores = await Promise.all(Array.from({ length: 4 }, () => place.open()))
    const write = (store: Store, n: number) =>
      store.transaction(async (tx) => {
        const id = await tx.nextId('words')
        await tx.collection(words).insert({ id, word: `from ${n}` })
      })
    await Promise.all(stores.map(write))
    const found = await Promise.all(stores.map((store) => store.collection(words).count()))
    expect(found).toEqual([4, 4, 4, 4])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('lets processes read and write as if alone', async () => {
    const place = await newPlace()
    const [one, two] = [await place.open(), await place.open()]
    const quota = (store: Store) => (n: number) =>
      store.transaction(async (tx) => {
        const table = tx.collection(words)
        if ((await table.count()) < 3) await table.insert({ id: n, word: 'one of three' })
      })
    await Promise.all([...[1, 2, 3, 4].map(quota(one)), ...[5, 6, 7, 8].map(quota(two))])
    expect(await one.collection(words).count()).toBe(3)
    await Promise.all([one.close(), two.close()])
  })

  it('goes on after the server was away, with nothing half done', async () => {
    const url = await server.createDatabase('away')
    const log: string[] = []
    const store = await openPostgres(url, { log: (line) => log.push(line) })
    const table = store.collection(words)
    await table.insert({ id: 1, word: 'kept' })
    const cut = store.transaction(async (tx) => {
      await tx.collection(words).insert({ id: 2, word: 'lost' })
      await server.restart()
      await tx.collection(words).insert({ id: 3, word: 'lost' })
    })
    await expect(cut).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/^The PostgreSQL database away at .* cannot be reached\. /),
    })
    expect(await table.list()).toEqual([{ id: 1, word: 'kept' }])
    await table.insert({ id: 4, word: 'after' })
    expect(log.join()).toContain('The PostgreSQL database away')
    await store.close()
  })

  it('says what is wrong with an address, and keeps its password', async () => {
    const refusal = (url: string) => openPostgres(url).then(String, (error: Error) => error.message)
    const malformed =
      'DATABASE_URL is not an address: write it as postgres://user:password@host:5432/database.'
    expect(await refusal('localhost/cove')).toBe(malformed)
    expect(await refusal('postgres://me:secret@host:99999/cove')).toBe(malformed)
    const refused = await refusal('postgres://me:secret@127.0.0.1:1/cove')
    expect(refused).toBe(
      'The PostgreSQL database cove at 127.0.0.1:1 cannot be reached. (connect ECONNREFUSED 127.0.0.1:1)',
    )
    const missing = (await server.createDatabase('there')).replace('/there', '/nowhere')
    expect(await refusal(missing)).toMatch(
      /nowhere at .* does not exist: create the database, or correct DATABASE_URL\./,
    )
  })
})
