import { storeOver } from './base.ts'
import { type Dialect, type Driver, nextIdSql } from './driver.ts'
import { type Migration, migrate } from './migrations.ts'
import { openFile } from './sqlite-file.ts'
import type { Store } from './store.ts'
import { inTurn, type Run, within } from './transaction.ts'

/**
 * The embedded store: one file, or `:memory:`. An acknowledged write survives the death of the
 * process; after a loss of power the last moments may be missing, but what is there is whole.
 */
export const openSqlite = async (
  path: string,
  options: { migrations?: readonly Migration[] } = {},
): Promise<Store> => {
  const driver = openDriver(path)
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

const openDriver = (path: string): Driver => {
  const file = openFile(path)
  /** The one writer; whoever writes waits here for a transaction to end. */
  const turn = inTurn()
  const run: Run = async (sql, values) => file.write(sql, values)
  const nextId = async (db: Run, sequence: string) =>
    Number((await db(nextIdSql(dialect), [sequence]))[0]?.[0])

  const inside: Pick<Driver, 'dialect' | 'layout' | 'nextId'> = {
    dialect,
    layout: (work) => within(inside, run, work),
    nextId: (sequence) => nextId(run, sequence),
  }
  const transaction: Driver['transaction'] = (work) =>
    turn(async () => {
      file.write('BEGIN IMMEDIATE')
      try {
        const result = await within(inside, run, work)
        file.write('COMMIT')
        return result
      } catch (error) {
        file.rollBack()
        throw error
      }
    })

  return {
    dialect,
    /** Readers neither wait for a transaction nor see into it; in memory there is one connection. */
    read: async (sql, values) =>
      file.inMemory ? turn(() => file.write(sql, values)) : file.read(sql, values),
    write: (sql, values) => turn(() => file.write(sql, values)),
    transaction,
    layout: transaction,
    nextId: (sequence) => turn(() => nextId(run, sequence)),
    close: () => turn(file.close),
  }
}
