import type { Driver } from './driver.ts'

/**
 * The format of the data, in steps that only go forward. A step is never changed once released.
 * Tables, columns and indexes of collections follow their declarations (layout.ts) and need no
 * step; one is needed when the meaning of what is stored changes.
 */
export type Migration = (db: Driver) => Promise<void>

const migrations: readonly Migration[] = [
  async ({ dialect: { table, types }, write }) => {
    await write(
      `CREATE TABLE ${table('cove_collections')} (name TEXT PRIMARY KEY, shape TEXT NOT NULL)`,
    )
    await write(
      `CREATE TABLE ${table('cove_sequences')} (name TEXT PRIMARY KEY, value ${types.integer} NOT NULL)`,
    )
  },
]

/** Bring a store to the newest format; `where` is how a person calls it. */
export const migrate = (db: Driver, where: string, steps = migrations): Promise<void> =>
  db.layout(async (tx) => {
    const format = tx.dialect.table('cove_format')
    await tx.write(
      `CREATE TABLE IF NOT EXISTS ${format} (version ${tx.dialect.types.integer} NOT NULL)`,
    )
    const [found] = await tx.read(`SELECT version FROM ${format}`)
    const version = Number(found?.[0] ?? 0)
    if (version > steps.length)
      throw new Error(
        `${where} was written by a newer Cove (data format ${version}, this one knows up to ${steps.length}). Run that newer Cove, or choose another place for the data.`,
      )
    if (version === steps.length) return
    for (const step of steps.slice(version)) await step(tx)
    const record = found ? `UPDATE ${format} SET version = ?` : `INSERT INTO ${format} VALUES (?)`
    await tx.write(record, [steps.length])
  })
