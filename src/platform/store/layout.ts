import { columnOf, encode, fieldsOf, type Spec } from './column.ts'
import type { Driver } from './driver.ts'

/** What the tables depend on in a declaration; kept beside them to see when it changed. */
type Shape = Pick<Spec, 'indexes' | 'unique' | 'reconciled'>

export const shapeOf = ({ indexes, unique, reconciled }: Shape): string =>
  JSON.stringify({ indexes, unique, reconciled } satisfies Shape)

/** Make the table of a collection what its declaration says, keeping its records. */
export const layOut = async (db: Driver, spec: Spec): Promise<void> => {
  if ((await storedShape(db, spec)) === shapeOf(spec)) return
  await db.layout(async (tx) => {
    const stored = await storedShape(tx, spec)
    if (stored === shapeOf(spec)) return
    const before: Shape = typeof stored === 'string' ? JSON.parse(stored) : nothing
    await tx.write(createTable(tx, spec))
    await addColumns(tx, spec, before)
    await changeIndexes(tx, spec, before)
    if (before.reconciled !== spec.reconciled) await makeDue(tx, spec)
    await tx.write(
      `INSERT INTO ${tx.dialect.table('cove_collections')} (name, shape) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET shape = excluded.shape`,
      [spec.name, shapeOf(spec)],
    )
  })
}

const nothing: Shape = { indexes: [], unique: [], reconciled: false }

const storedShape = (db: Driver, spec: Spec) =>
  db.value(`SELECT shape FROM ${db.dialect.table('cove_collections')} WHERE name = ?`, [spec.name])

/** `ready` is when a record may be claimed: when it is due and nobody holds it. */
const createTable = ({ dialect: { table, types } }: Driver, { name }: Spec) =>
  `CREATE TABLE IF NOT EXISTS ${table(name)} (
     seq ${types.serial},
     key TEXT NOT NULL UNIQUE,
     version ${types.integer} NOT NULL DEFAULT 1,
     data ${types.json} NOT NULL,
     due ${types.integer},
     owner TEXT,
     until ${types.integer} NOT NULL DEFAULT 0,
     ready ${types.integer} GENERATED ALWAYS AS (CASE WHEN until > due THEN until ELSE due END) STORED,
     attempts ${types.integer} NOT NULL DEFAULT 0,
     problem TEXT
   )`

/** A field that was not kept up in its column until now is filled in from the records. */
const addColumns = async (tx: Driver, spec: Spec, before: Shape) => {
  const table = tx.dialect.table(spec.name)
  const fields = fieldsOf(spec).filter((field) => !fieldsOf(before).includes(field))
  if (fields.length === 0) return
  const there = (await tx.read(tx.dialect.columns, [spec.name])).map(([name]) => `"${name}"`)
  for (const column of fields.map(columnOf))
    if (!there.includes(column)) await tx.write(`ALTER TABLE ${table} ADD COLUMN ${column} TEXT`)
  const fill = `UPDATE ${table} SET ${fields.map((field) => `${columnOf(field)} = ?`).join(', ')} WHERE seq = ?`
  for (const [seq, data] of await tx.read(`SELECT seq, data FROM ${table}`)) {
    const record = JSON.parse(String(data))
    await tx.write(fill, [...fields.map((field) => encode(record[field])), Number(seq)])
  }
}

const changeIndexes = async (tx: Driver, spec: Spec, before: Shape) => {
  const wanted = indexesOf(spec.name, spec)
  for (const name of Object.keys(indexesOf(spec.name, before)))
    if (!(name in wanted)) await tx.write(`DROP INDEX IF EXISTS ${tx.dialect.table(name)}`)
  for (const [name, { unique, columns, condition = '' }] of Object.entries(wanted))
    await tx.write(
      `CREATE ${unique ? 'UNIQUE INDEX' : 'INDEX'} IF NOT EXISTS "${name}"
       ON ${tx.dialect.table(spec.name)} (${columns.join(', ')}) ${condition}`,
    )
}

const indexesOf = (
  table: string,
  { indexes, unique }: Shape,
): Record<string, { unique?: boolean; columns: readonly string[]; condition?: string }> => ({
  [`${table}_ready`]: { columns: ['ready', 'seq'], condition: 'WHERE ready IS NOT NULL' },
  ...Object.fromEntries(
    indexes.map((field) => [`${table}_by_${field}`, { columns: [columnOf(field), 'seq'] }]),
  ),
  ...Object.fromEntries(
    unique.map((set) => [
      `${table}_one_${set.join('_')}`,
      { unique: true, columns: set.map(columnOf) },
    ]),
  ),
})

/** A collection that a reconciler takes over, or gives up. */
const makeDue = (tx: Driver, { name, reconciled }: Spec) =>
  tx.write(`UPDATE ${tx.dialect.table(name)} SET until = 0, owner = NULL, due = ?`, [
    reconciled ? 0 : null,
  ])
