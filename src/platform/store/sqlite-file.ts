import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Database from 'libsql'
import { ApiError, messageOf } from '#core/error.ts'
import { type Cell, type Row, Taken, type Value } from './driver.ts'

/** `Cove` in the header of the file, where SQLite keeps whose file it is. */
const applicationId = 0x436f7665
/** ms between looks whether another process has ended its writing. */
const pause = 10

/** A database file of ours: one connection that writes, one that only reads what is committed. */
export const openFile = (path: string, patience = 5000) => {
  const inMemory = path === ':memory:'
  const attempt = <R>(work: () => R): R => {
    try {
      return work()
    } catch (error) {
      throw explain(error, path)
    }
  }
  const writer = attempt(() => openWriter(path, inMemory, patience))
  const reader = inMemory ? writer : attempt(() => new Database(path, { timeout: patience }))
  const [reading, writing] = [preparing(reader), preparing(writer)]
  let open = true
  const guarded =
    <R>(run: (sql: string, values: readonly Value[]) => R) =>
    (sql: string, values: readonly Value[] = []): R => {
      if (!open) throw new Error(`${path} is closed.`)
      return attempt(() => run(sql, values))
    }
  return {
    inMemory,
    read: guarded(reading.rows),
    value: guarded(reading.value),
    /** Between `begin` and `commit` only. */
    write: guarded(writing.rows),
    /**
     * The lock is taken here and nowhere else. The binding does not reset a prepared statement
     * that waited for it in vain, and its connection could then never commit again; and it would
     * wait without letting anyone else work.
     */
    begin: async () => {
      const inVain = Date.now() + patience
      while (!attempt(() => tryBegin(writer, Date.now() >= inVain))) await setTimeout(pause)
    },
    commit: () => attempt(() => writer.exec('COMMIT')),
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

const openWriter = (path: string, inMemory: boolean, patience: number) => {
  if (!inMemory) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  }
  const db = new Database(path, { timeout: patience })
  const ask = (sql: string) => (db.prepare(sql).raw().get() as [unknown])[0]
  const empty = ask('SELECT count(*) FROM sqlite_schema') === 0
  if (!empty && ask('PRAGMA application_id') !== applicationId)
    throw new Error(`${path} belongs to another program: choose another place for Cove's data.`)
  if (!inMemory) chmodSync(path, 0o600)
  /** About 1 ms per MB: damage is better found now than in the middle of work. */
  const found = ask('PRAGMA quick_check(1)')
  if (found !== 'ok') throw Object.assign(new Error(String(found)), { code: 'SQLITE_CORRUPT' })
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
           PRAGMA journal_size_limit = 67108864; PRAGMA application_id = ${applicationId}; PRAGMA busy_timeout = 0`)
  return db
}

const tryBegin = (db: Database.Database, lastTime: boolean): boolean => {
  try {
    db.exec('BEGIN IMMEDIATE')
    return true
  } catch (error) {
    if (lastTime || codeOf(error) !== 'SQLITE_BUSY') throw error
    return false
  }
}

/** Runs statements by their text, prepared once. Texts are few: they follow from declarations. */
const preparing = (db: Database.Database) => {
  const prepared = new Map<string, Database.Statement>()
  const prepare = (sql: string) => {
    const statement = db.prepare(sql)
    if (statement.reader) statement.raw()
    prepared.set(sql, statement)
    return statement
  }
  return {
    rows(sql: string, values: readonly Value[]): Row[] {
      const statement = prepared.get(sql) ?? prepare(sql)
      if (statement.reader) return statement.all(values) as Row[]
      statement.run(values)
      return []
    },
    value(sql: string, values: readonly Value[]): Cell | undefined {
      const row = (prepared.get(sql) ?? prepare(sql)).get(values) as Row | undefined
      return row?.[0]
    },
  }
}

const codeOf = (error: unknown) => (error as { code?: string }).code

/** One sentence for what a person can mend; anything else stays as it is. */
const explain = (error: unknown, path: string): unknown => {
  const code = codeOf(error)
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
