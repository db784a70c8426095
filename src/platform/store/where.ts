import { columnOf, encode, encodeKey, fieldsOf, type Spec } from './column.ts'
import type { Dialect, Value } from './driver.ts'
import type { Key, Where } from './store.ts'

interface Condition {
  readonly sql: string
  readonly values: readonly Value[]
}

/** The condition of a query; a field without a column is a mistake in the program. */
export const conditionOf = <T>(spec: Spec, dialect: Dialect, where: Where<T> = {}): Condition => {
  const parts = Object.entries(where).map(([field, wanted]) => {
    const isKey = field === spec.key
    if (!isKey && !fieldsOf(spec).includes(field))
      throw new Error(
        `${spec.name} cannot be found by ${field}: declare it among the indexes (now: ${[spec.key, ...fieldsOf(spec)].join(', ')}).`,
      )
    const column = isKey ? 'key' : columnOf(field)
    const values = (Array.isArray(wanted) ? wanted : [wanted]).map((value) =>
      isKey ? encodeKey(value as Key) : encode(value),
    )
    return match(column, values, dialect)
  })
  if (parts.length === 0) return { sql: '', values: [] }
  return {
    sql: ` WHERE ${parts.map((part) => part.sql).join(' AND ')}`,
    values: parts.flatMap((part) => part.values),
  }
}

const match = (column: string, wanted: readonly (string | null)[], dialect: Dialect): Condition => {
  const texts = wanted.filter((value) => value !== null)
  const [only] = texts
  if (only !== undefined && wanted.length === 1) return { sql: `${column} = ?`, values: [only] }
  const among = { sql: dialect.among(column), values: [dialect.list(texts)] }
  if (texts.length === wanted.length) return among
  return { sql: `(${among.sql} OR ${column} IS NULL)`, values: among.values }
}
