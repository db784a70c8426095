/** What SQLite and PostgreSQL do differently; everything else about a store is said once. */
export interface Driver {
  readonly dialect: Dialect
  /** As of a store. */
  readonly shared: boolean
  read(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** The first column of the first row: the fast way to read one thing. */
  value(sql: string, values?: readonly Value[]): Promise<Cell | undefined>
  /**
   * One statement with `RETURNING`, so that the rows tell what happened. A statement that
   * `mayClash` throws `Taken` for a unique set and leaves the transaction usable.
   */
  write(sql: string, values?: readonly Value[], mayClash?: boolean): Promise<Row[]>
  /** Inside a transaction: a part of it; when it fails, all fails. */
  transaction<R>(work: (driver: Driver) => Promise<R>): Promise<R>
  /** A transaction that changes tables, while no other process does. */
  layout(work: (driver: Driver) => Promise<void>): Promise<void>
  nextId(sequence: string): Promise<number>
  close(): Promise<void>
}

/** Placeholders are written `?` in both. */
export interface Dialect {
  table(name: string): string
  /** Column types. */
  readonly types: { readonly serial: string; readonly integer: string; readonly json: string }
  /** The names of a table's columns, by the table's name as the one parameter. */
  readonly columns: string
  /** Whether a column is one of the strings of one parameter, made by `list`. */
  among(column: string): string
  list(values: readonly string[]): Value
  /** Passes over rows that another process is claiming. */
  readonly skipLocked: string
}

export type Value = string | number | null | readonly string[]
export type Cell = string | number | null
export type Row = readonly Cell[]

/** A unique set of the record is taken by another. */
export class Taken extends Error {
  override name = 'Taken'
}

export const nextIdSql = (dialect: Dialect) =>
  `INSERT INTO ${dialect.table('cove_sequences')} AS s (name, value) VALUES (?, 1)
   ON CONFLICT (name) DO UPDATE SET value = s.value + 1 RETURNING value`
