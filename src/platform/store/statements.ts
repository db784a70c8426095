import { columnOf, fieldsOf, type Spec } from './column.ts'
import type { Dialect } from './driver.ts'

/** The SQL of one collection, put together once. */
export const statementsOf = (spec: Spec, dialect: Dialect) => {
  const table = dialect.table(spec.name)
  const columns = ['key', 'data', 'due', ...fieldsOf(spec).map(columnOf)]
  const values = columns.map(() => '?').join(', ')
  const fields = fieldsOf(spec).map((field) => `, ${columnOf(field)} = ?`)
  /** Whoever works on the record keeps it; the next claim begins afresh. */
  const written = 'version = version + 1, attempts = 0'
  const released = 'owner = NULL, until = 0'
  const mine = 'key = ? AND owner = ?'
  const settle = `UPDATE ${table} SET ${released}, due = ?, problem = ?, attempts = ?`
  return {
    table,
    get: `SELECT data FROM ${table} WHERE key = ?`,
    read: `SELECT data, version FROM ${table} WHERE key = ?`,
    insert: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values}) ON CONFLICT DO NOTHING RETURNING key`,
    put: `INSERT INTO ${table} AS t (${columns.join(', ')}) VALUES (${values})
          ON CONFLICT (key) DO UPDATE SET version = t.version + 1, attempts = 0,
          ${columns
            .slice(1)
            .map((column) => `${column} = excluded.${column}`)
            .join(', ')} RETURNING key`,
    replace: `UPDATE ${table} SET ${written}, data = ?, due = ?${fields.join('')} WHERE key = ? AND version = ? RETURNING key`,
    remove: `DELETE FROM ${table} WHERE key = ? RETURNING key`,
    standing: `SELECT due, attempts, problem FROM ${table} WHERE key = ?`,
    claim: `UPDATE ${table} SET owner = ?, until = ? WHERE seq IN (
              SELECT seq FROM ${table} WHERE ready <= ? ORDER BY ready, seq LIMIT ? ${dialect.skipLocked}
            ) RETURNING key, version, data, attempts`,
    extend: `UPDATE ${table} SET until = ? WHERE ${mine} RETURNING key`,
    release: `UPDATE ${table} SET ${released} WHERE ${mine} RETURNING key`,
    settle: `${settle} WHERE ${mine} AND version = ? RETURNING key`,
    settleChanged: `${settle}, version = version + 1, data = ?${fields.join('')} WHERE ${mine} AND version = ? RETURNING key`,
    settleRemove: `DELETE FROM ${table} WHERE ${mine} AND version = ? RETURNING key`,
    releaseAll: `UPDATE ${table} SET ${released} WHERE ready IS NOT NULL AND until > 0 RETURNING key`,
    nextDue: `SELECT min(ready) FROM ${table} WHERE ready IS NOT NULL`,
    taken: (set: readonly string[]) =>
      `SELECT key FROM ${table} WHERE ${set.map((field) => `${columnOf(field)} = ?`).join(' AND ')} AND key <> ?`,
  }
}
