import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'libsql'
import { ApiError, messageOf } from '#core/error.ts'
import { type Row, Taken, type Value } from './driver.ts'

/** `Cove` in the header of the file, where SQLite keeps whose file it is. */
const applicationId = 0x436f7665
/** ms to wait for another process that writes. */
const patience = 5000

/** A database file of ours: one connection that writes, one that only reads what is committed. */
export const openFile = (path: string) => {
  const inMemory = path === ':memory:'
  const attempt = <R>(work: () => R): R => {
    try {
      return work()
    } catch (error) {
      throw explain(error, path)
    }
  }
  const writer = attempt(() => openWriter(path, inMemory))
  const reader = inMemory ? writer : attempt(() => new Database(path, { timeout: patience }))
  let open = true
  const guarded = (run: ReturnType<typeof runner>) => (sql: string, values?: readonly Value[]) => {
    if (!open) throw new Error(`${path} is closed.`)
    return attempt(() => run(sql, values))
  }
  return {
    inMemory,
    read: guarded(runner(reader)),
    write: guarded(runner(writer)),
    rollBack: () => {
      if (writer.inTransaction) writer.exec('ROLLBACK')
    },
    /** Leaves everything in the one file. */
    close: () => {
      open = false
      attempt(() => writer.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
      if (reader !== writer) reader.close()
      writer.close()
    },
  }
}

const openWriter = (path: string, inMemory: boolean) => {
  if (!inMemory) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  }
  const db = new Database(path, { timeout: patience })
  const ask = (sql: string) => (db.prepare(sql).raw().get() as [unknown])[0]
  const empty = ask('SELECT count(*) FROM sqlite_schema') === 0
  if (!empty && ask('PRAGMA application_id') !== applicationId)
    throw new Error(`${path} belongs to another program: choose another place for Cove's data.`)
  /** About 1 ms per MB: damage is better found now than in the middle of work. */
  const found = ask('PRAGMA quick_check(1)')
  if (found !== 'ok') throw Object.assign(new Error(String(found)), { code: 'SQLITE_CORRUPT' })
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
           PRAGMA journal_size_limit = 67108864; PRAGMA application_id = ${applicationId}`)
  return db
}

/** Runs statements by their text, prepared once. Texts are few: they follow from declarations. */
const runner = (db: Database.Database) => {
  const prepared = new Map<string, Database.Statement>()
  const prepare = (sql: string) => {
    const statement = db.prepare(sql)
    if (statement.reader) statement.raw()
    prepared.set(sql, statement)
    return statement
  }
  return (sql: string, values: readonly Value[] = []): Row[] => {
    const statement = prepared.get(sql) ?? prepare(sql)
    if (statement.reader) return statement.all(values) as Row[]
    statement.run(values)
    return []
  }
}

/** One sentence for what a person can mend; anything else stays as it is. */
const explain = (error: unknown, path: string): unknown => {
  const { code } = error as { code?: string }
  if (code === 'SQLITE_CONSTRAINT_UNIQUE') return new Taken(messageOf(error))
  const sentence = sentences.find(([pattern]) => pattern.test(code || messageOf(error)))?.[1]
  return sentence ? ApiError.unavailable(`${path} ${sentence}`, error) : error
}

const sentences: readonly (readonly [RegExp, string])[] = [
  [
    /^SQLITE_(FULL|IOERR_WRITE)|ENOSPC/,
    'cannot grow: its disk is full or failing. Nothing was written; free some space and try again.',
  ],
  [/^SQLITE_IOERR/, 'cannot be read or written: its disk reports an error.'],
  [/^SQLITE_NOTADB/, 'is not a database: move it away, or choose another place for the data.'],
  [/^SQLITE_CORRUPT/, 'is damaged: move it away and restore a copy, or start with an empty one.'],
  [/^SQLITE_READONLY|EACCES|EROFS|EPERM/, 'cannot be written: check who owns it and its folder.'],
  [/^SQLITE_BUSY/, 'is in use by another process: stop it and try again.'],
  [
    /^SQLITE_CANTOPEN|ConnectionFailed|EISDIR|ENOTDIR/,
    'cannot be opened: it must be a file in a folder of yours.',
  ],
]
