import pg from 'pg'
import { ApiError, messageOf } from '#core/error.ts'
import { storeOver } from './base.ts'
import { type Dialect, type Driver, nextIdSql, type Row, Taken, type Value } from './driver.ts'
import { type Migration, migrate } from './migrations.ts'
import type { Store } from './store.ts'
import { inTurn, type Outside, type Run, within } from './transaction.ts'

/** A store that several Cove processes share, in the schema `cove` of a PostgreSQL database. */
export const openPostgres = async (
  url: string,
  options: { migrations?: readonly Migration[]; log?: (sentence: string) => void } = {},
): Promise<Store> => {
  const where = placeOf(url)
  const driver = openDriver(url, where, options.log)
  try {
    await driver.layout(async (tx) => void (await tx.write('CREATE SCHEMA IF NOT EXISTS cove')))
    await migrate(driver, where, options.migrations)
  } catch (error) {
    await driver.close()
    throw error
  }
  return storeOver(driver)
}

/** A record keeps its text: `jsonb` would sort its fields and refuse a zero character. */
const dialect: Dialect = {
  table: (name) => `cove."${name}"`,
  types: {
    serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    integer: 'BIGINT',
    json: 'JSON',
  },
  columns: `SELECT column_name FROM information_schema.columns WHERE table_schema = 'cove' AND table_name = ?`,
  among: (column) => `${column} = ANY(?::text[])`,
  list: (values) => values,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
}

/** How often a transaction begins again after a clash before it is given up. */
const patience = 100
const layoutLock = 0x436f7665

const openDriver = (
  url: string,
  where: string,
  log: (sentence: string) => void = () => {},
): Driver => {
  const connect = (max: number) => {
    const pool = new pg.Pool({ connectionString: url, max, application_name: 'cove', types: raw })
    const heard = (error: Error) => log(`${where} closed a connection: ${error.message}.`)
    /** Also while it is in use, where the pool would not hear it and the process would end. */
    pool.on('connect', (client) => client.on('error', heard))
    pool.on('error', () => undefined)
    return pool
  }
  const pool = connect(10)
  /** Numbers and tables are had while a transaction holds its own connection, so beside the pool. */
  const aside = connect(1)
  const runner = preparing(where)

  const atomic = async <R>(from: pg.Pool, begin: string, work: (tx: Driver) => Promise<R>) => {
    const client = await explained(where, () => from.connect())
    try {
      const run = inOrder(runner(client))
      await run(begin)
      const result = await within(inside, run, work)
      await run('COMMIT')
      client.release()
      return result
    } catch (error) {
      /** A connection on which not even this works is thrown away. */
      await client.query('ROLLBACK').then(
        () => client.release(),
        (broken: Error) => client.release(broken),
      )
      throw error
    }
  }

  const inside: Outside = {
    dialect,
    shared: true,
    layout: (work) =>
      atomic(aside, 'BEGIN', async (tx) => {
        await tx.write(`SET LOCAL lock_timeout = '20s'`)
        await tx.write(`SELECT pg_advisory_xact_lock(${layoutLock})`)
        await work(tx)
      }),
    nextId: async (sequence) =>
      Number((await runner(aside)(nextIdSql(dialect), [sequence]))[0]?.[0]),
  }

  return {
    ...inside,
    read: runner(pool),
    value: async (sql, values) => (await runner(pool)(sql, values))[0]?.[0],
    write: runner(pool),
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await atomic(pool, 'BEGIN ISOLATION LEVEL SERIALIZABLE', work)
        } catch (error) {
          if (!clashed(error) || attempt === patience) throw error
        }
      }
    },
    async close() {
      await Promise.all([pool.end(), aside.end()])
    },
  }
}

/** All values as the database writes them; the store knows what they are. */
const raw = { getTypeParser: () => (text: string) => text }

/** Runs statements by their text, each prepared once a connection. */
const preparing = (where: string) => {
  const prepared = new Map<string, { name: string; text: string }>()
  const prepare = (sql: string) => {
    let count = 0
    const text = sql.replaceAll('?', () => `$${++count}`)
    const statement = { name: `cove_${prepared.size}`, text }
    prepared.set(sql, statement)
    return statement
  }
  return (db: pg.Pool | pg.ClientBase): Run =>
    async (sql, values = []) => {
      const statement = prepared.get(sql) ?? prepare(sql)
      const query = { ...statement, values: [...values] as unknown[], rowMode: 'array' as const }
      return explained(where, async () => (await db.query<Value[]>(query)).rows as Row[])
    }
}

/** Inside a transaction a clash would spoil all: it is undone to just before it. */
const inOrder = (run: Run): Run => {
  const turn = inTurn()
  return (sql, values, mayClash = false) =>
    turn(async () => {
      if (!mayClash) return run(sql, values)
      await run('SAVEPOINT clash')
      try {
        return await run(sql, values)
      } catch (error) {
        await run('ROLLBACK TO clash')
        throw error
      } finally {
        await run('RELEASE clash')
      }
    })
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''
const clashed = (error: unknown) => codeOf(error) === '40001' || codeOf(error) === '40P01'

const explained = async <R>(where: string, work: () => Promise<R>): Promise<R> => {
  try {
    return await work()
  } catch (error) {
    if (codeOf(error) === '23505') throw new Taken(messageOf(error))
    const sentence = sentences.find(([pattern]) => pattern.test(codeOf(error) || messageOf(error)))
    throw sentence
      ? ApiError.unavailable(
          `${where} ${sentence[1]} (${messageOf(error) || codeOf(error)})`,
          error,
        )
      : error
  }
}

const sentences: readonly (readonly [RegExp, string])[] = [
  [/^53100/, 'cannot grow: its disk is full. Nothing was written.'],
  [/^28/, 'does not let us in: check user and password in DATABASE_URL.'],
  [/^3D000/, 'does not exist: create the database, or correct DATABASE_URL.'],
  [/^(E[A-Z]+|08...|57P..|53...)$|terminated|timeout|not queryable/, 'cannot be reached.'],
]

/** The address without the password. */
const placeOf = (url: string): string => {
  if (!/^postgres(ql)?:\/\//.test(url)) throw malformed()
  try {
    const { host, port, database } = new pg.Client(url)
    return `The PostgreSQL database ${database} at ${host}:${port}`
  } catch (error) {
    throw malformed(error)
  }
}

const malformed = (cause?: unknown) =>
  new Error(
    'DATABASE_URL is not an address: write it as postgres://user:password@host:5432/database.',
    { cause },
  )
