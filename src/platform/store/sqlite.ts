import { storeOver } from './base.ts'
import { type Dialect, type Driver, nextIdSql } from './driver.ts'
import { type Migration, migrate } from './migrations.ts'
import { openFile } from './sqlite-file.ts'
import type { Store } from './store.ts'
import { inTurn, type Outside, type Run, within } from './transaction.ts'

/**
 * The embedded store: one file, or `:memory:`. An acknowledged write survives the death of the
 * process; after a loss of power the last moments may be missing, but what is there is whole.
 */
export const openSqlite = async (
  path: string,
  options: {
    migrations?: readonly Migration[]
    /** ms to wait for another process that writes. */
    patience?: number
  } = {},
): Promise<Store> => {
  const driver = openDriver(path, options.patience)
  await migrate(driver, path, options.migrations)
  return storeOver(driver)
}

const dialect: Dialect = {
  table: (name) => `"${name}"`,
  types: { serial: 'INTEGER PRIMARY KEY AUTOINCREMENT', integer: 'INTEGER', json: 'TEXT' },
  columns: 'SELECT name FROM pragma_table_info(?)',
  among: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  list: (values) => JSON.stringify(values),
  skipLocked: '',
}

const openDriver = (path: string, patience?: number): Driver => {
  const file = openFile(path, patience)
  /** The one writer; whoever writes waits here for a transaction to end. */
  const turn = inTurn()
  const run: Run = async (sql, values) => file.write(sql, values)

  const inside: Outside = {
    dialect,
    shared: false,
    layout: (work) => within(inside, run, work),
    nextId: async (sequence) => Number(file.write(nextIdSql(dialect), [sequence])[0]?.[0]),
  }
  const atomic = <R>(work: () => Promise<R>): Promise<R> =>
    turn(async () => {
      await file.begin()
      try {
        const result = await work()
        file.commit()
        return result
      } catch (error) {
        file.rollBack()
        throw error
      }
    })
  const transaction: Driver['transaction'] = (work) => atomic(() => within(inside, run, work))

  /** Readers neither wait for a transaction nor see into it; in memory there is one connection. */
  const reading = file.inMemory ? turn : async <R>(work: () => R) => work()
  return {
    ...inside,
    read: (sql, values) => reading(() => file.read(sql, values)),
    value: (sql, values) => reading(() => file.value(sql, values)),
    write: (sql, values) => atomic(() => run(sql, values)),
    transaction,
    layout: transaction,
    nextId: (sequence) => atomic(() => inside.nextId(sequence)),
    close: () => turn(file.close),
  }
}
