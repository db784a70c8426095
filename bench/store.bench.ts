import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { collection } from '#core/collection.ts'
import { systemClock } from '#platform/clock.ts'
import { createReconciler } from '#platform/reconcile.ts'
import { openPostgres } from '#platform/store/postgres.ts'
import { openSqlite } from '#platform/store/sqlite.ts'
import type { Store } from '#platform/store/store.ts'
import { startPostgres } from '../test/postgres.ts'

interface Zone {
  name: string
  owner: string
  ttl: number
  text: string
}

const zones = collection<Zone>('zones', { called: 'Zone', key: 'name', indexes: ['owner'] })
const lamps = collection<Zone>('lamps', { called: 'Lamp', key: 'name', reconciled: true })

const zone = (n: number): Zone => ({
  name: `zone${n}.test`,
  owner: `owner${n % 50}`,
  ttl: 1800,
  text: 'x'.repeat(200),
})

/** Microseconds that one takes, as the median of five rounds. */
const cost = async (rounds: number, work: (n: number) => unknown): Promise<number> => {
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const begun = performance.now()
    for (let n = 0; n < rounds; n++) await work(n)
    times.push(((performance.now() - begun) * 1000) / rounds)
  }
  return times.sort((a, b) => a - b)[2] ?? Number.NaN
}

const measure = async (store: Store, rounds: number) => {
  const table = store.collection(zones)
  for (let n = 0; n < 1000; n++) await table.put(zone(n))
  const put = await cost(rounds / 5, (n) => table.put(zone(n % 1000)))
  const get = await cost(rounds, (n) => table.get(`zone${n % 1000}.test`))
  const list = await cost(rounds / 5, (n) => table.list({ where: { owner: `owner${n % 50}` } }))
  const update = await cost(rounds / 5, (n) =>
    table.update(zone(n % 1000).name, (z) => ({ ...z, ttl: n })),
  )
  const transaction = await cost(rounds / 5, (n) =>
    store.transaction(async (tx) => {
      const inside = tx.collection(zones)
      await inside.require(zone(n % 1000).name)
      await inside.put(zone(n % 1000))
    }),
  )
  return { get, 'list of 20': list, put, update, 'transaction: get, put': transaction }
}

/** What a write costs until its record is settled again, and a claim among ever more records. */
const reconciliation = async (store: Store, rounds: number) => {
  const table = store.collection(lamps)
  const loop = createReconciler({ store, clock: systemClock, owner: 'bench', log: console.error })
  loop.add(lamps, async () => ({ change: (lamp) => ({ ...lamp, ttl: lamp.ttl + 1 }) }))
  const claimAmong = async (count: number) => {
    const have = await table.count()
    await store.transaction(async (tx) => {
      for (let n = have; n < count; n++) await tx.collection(lamps).put(zone(n))
    })
    let now = 1
    return cost(rounds / 5, () => table.claim({ owner: 'x', now, until: now++, limit: 4 }))
  }
  const few = await claimAmong(1000)
  const many = await claimAmong(10_000)
  await table.releaseAll()
  await loop.settle()
  const write = await cost(rounds / 10, async (n) => {
    await table.put(zone(n % 1000))
    await loop.settle()
  })
  return {
    'claim of 4 among 1000': few,
    'claim of 4 among 10000': many,
    'write until settled': write,
  }
}

/** The binding alone, for comparison. */
const bare = async (file: string, rounds: number) => {
  const db = new Database(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  db.exec('CREATE TABLE zones (key TEXT PRIMARY KEY, data TEXT)')
  const put = db.prepare('INSERT OR REPLACE INTO zones VALUES (?, ?)')
  const get = db.prepare('SELECT data FROM zones WHERE key = ?').raw()
  const write = (n: number) => put.run([zone(n).name, JSON.stringify(zone(n))])
  for (let n = 0; n < 1000; n++) write(n)
  return {
    get: await cost(rounds, (n) => JSON.parse((get.get([`zone${n % 1000}.test`]) as [string])[0])),
    put: await cost(rounds / 5, (n) => write(n % 1000)),
  }
}

const folder = mkdtempSync(join(tmpdir(), 'cove-bench-'))
const binding = await bare(join(folder, 'bare.db'), 5000)
const sqlite = await openSqlite(join(folder, 'cove.db'))
const embedded = { ...(await measure(sqlite, 5000)), ...(await reconciliation(sqlite, 5000)) }
await sqlite.close()
const server = await startPostgres()
const postgres = await openPostgres(await server.createDatabase('bench'))
const shared = { ...(await measure(postgres, 500)), ...(await reconciliation(postgres, 500)) }
await postgres.close()
await server.stop()
rmSync(folder, { recursive: true })

const microseconds = (value?: number) => (value === undefined ? '' : `${value.toFixed(1)} µs`)
const ratio = (value?: number, to?: number) =>
  value === undefined || to === undefined ? '' : `${(value / to).toFixed(2)} ×`
console.table(
  Object.fromEntries(
    Object.entries(embedded).map(([name, value]) => {
      const alone = binding[name as keyof typeof binding]
      const server = shared[name as keyof typeof shared]
      return [
        name,
        {
          'the binding alone': microseconds(alone),
          SQLite: microseconds(value),
          'to the binding': ratio(value, alone),
          PostgreSQL: microseconds(server),
          'to SQLite': ratio(server, value),
        },
      ]
    }),
  ),
)
const growth = embedded['claim of 4 among 10000'] / embedded['claim of 4 among 1000']
console.log(`A claim among ten times the records costs ${growth.toFixed(2)} × as much in SQLite.`)
