import { afterAll, beforeAll, describe } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../test/postgres.ts'
import { openPostgres } from './postgres.ts'
import { lastingSuite, type Place, storeSuite } from './store.suite.ts'

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
  storeSuite(newPlace)
  lastingSuite(newPlace)
})
