import { ApiError } from '#core/error.ts'
import { encode, encodeKey, fieldsOf, type Spec } from './column.ts'
import { type Cell, type Driver, Taken, type Value } from './driver.ts'
import { statementsOf } from './statements.ts'
import type { Claim, Key, Table } from './store.ts'
import { conditionOf } from './where.ts'

/** What a table needs of its store. */
export interface Ground {
  readonly db: Driver
  /** The table exists as declared. */
  ready(): Promise<void> | undefined
  /** A record became due. */
  due(): void
}

/** One collection over either database. */
export const tableOf = <T extends object>(spec: Spec, ground: Ground): Table<T> => {
  const { db } = ground
  const sql = statementsOf(spec, db.dialect)
  const fields = fieldsOf(spec)
  const dueNow = spec.reconciled ? 0 : null
  const fieldOf = (record: T, field: string) => (record as Record<string, unknown>)[field]
  const keyOf = (record: T) => encodeKey(fieldOf(record, spec.key) as Key)
  const columns = (record: T) => fields.map((field) => encode(fieldOf(record, field)))
  const parse = (data: Cell | undefined): T => JSON.parse(String(data))

  const read = async (statement: string, values: readonly Value[]) => {
    await ground.ready()
    return db.read(statement, values)
  }

  const value = async (statement: string, values: readonly Value[]) => {
    await ground.ready()
    return db.value(statement, values)
  }

  const write = async (statement: string, values: readonly Value[], record?: T) => {
    await ground.ready()
    try {
      return (await db.write(statement, values, record && spec.unique.length > 0)).length > 0
    } catch (error) {
      throw error instanceof Taken && record ? await clash(record) : error
    }
  }

  /** A write by a user of the store, as opposed to the reconciler's own. */
  const change = async (statement: string, values: readonly Value[], record?: T) => {
    const done = await write(statement, values, record)
    if (done && spec.reconciled) ground.due()
    return done
  }

  /** The sentence that says which of a record's values are taken. */
  const clash = async (record: T) => {
    for (const set of spec.unique) {
      const values = set.map((field) => encode(fieldOf(record, field)))
      if (values.includes(null)) continue
      const [other] = await db.read(sql.taken(set), [...values, keyOf(record)])
      if (other) return conflict(record, set)
    }
    return conflict(record, [spec.key])
  }
  const conflict = (record: T, set: readonly string[]) => {
    const named = set.map((field) => `${field} ${JSON.stringify(fieldOf(record, field))}`)
    return ApiError.conflict(`${spec.called} with ${named.join(' and ')} already exists.`)
  }

  const missing = (key: Key) => ApiError.notFound(`${spec.called} ${key}`)
  const sameKey = (record: T, key: string) => {
    if (keyOf(record) !== key)
      throw new Error(`${spec.called} ${key} cannot change its ${spec.key} to ${keyOf(record)}.`)
    return record
  }

  const table: Table<T> = {
    async get(key) {
      const data = await value(sql.get, [encodeKey(key)])
      return data === undefined ? undefined : parse(data)
    },
    async require(key) {
      const record = await table.get(key)
      if (!record) throw missing(key)
      return record
    },
    async find(where) {
      const [record] = await table.list({ where, limit: 1 })
      return record
    },
    async list({ where, newestFirst, limit, offset } = {}) {
      const condition = conditionOf(spec, db.dialect, where)
      const order = newestFirst ? 'seq DESC' : 'seq'
      /** One value for all records is twice as fast as a row for each. */
      const all = await value(
        `SELECT string_agg(CAST(data AS TEXT), ',' ORDER BY ${order}) FROM (
           SELECT seq, data FROM ${sql.table}${condition.sql} ORDER BY ${order} LIMIT ? OFFSET ?
         ) AS page`,
        [...condition.values, limit ?? Number.MAX_SAFE_INTEGER, offset ?? 0],
      )
      return JSON.parse(`[${all ?? ''}]`)
    },
    async count(where) {
      const condition = conditionOf(spec, db.dialect, where)
      return Number(
        await value(`SELECT count(*) FROM ${sql.table}${condition.sql}`, condition.values),
      )
    },
    async insert(record) {
      const values = [keyOf(record), JSON.stringify(record), dueNow, ...columns(record)]
      if (!(await change(sql.insert, values))) throw await clash(record)
      return record
    },
    async put(record) {
      await change(
        sql.put,
        [keyOf(record), JSON.stringify(record), dueNow, ...columns(record)],
        record,
      )
      return record
    },
    async update(key, work) {
      const id = encodeKey(key)
      for (;;) {
        const [row] = await read(sql.read, [id])
        if (!row) throw missing(key)
        const record = sameKey(work(parse(row[0])), id)
        const values = [JSON.stringify(record), dueNow, ...columns(record), id, row[1] ?? null]
        if (await change(sql.replace, values, record)) return record
      }
    },
    remove: (key) => change(sql.remove, [encodeKey(key)]),
    async standing(key) {
      const [row] = await read(sql.standing, [encodeKey(key)])
      if (!row) return
      const [due, attempts, problem] = row
      return {
        attempts: Number(attempts),
        ...(due !== null && { due: Number(due) }),
        ...(typeof problem === 'string' && { problem }),
      }
    },
    async claim({ owner, now, until, limit }) {
      await ground.ready()
      const rows = await db.write(sql.claim, [owner, until, now, limit])
      return rows.map(
        ([key, version, data, attempts]): Claim<T> => ({
          record: parse(data),
          key: String(key),
          version: Number(version),
          owner,
          attempts: Number(attempts),
        }),
      )
    },
    extend: ({ key, owner }, until) =>
      until > 0 ? write(sql.extend, [until, key, owner]) : write(sql.release, [key, owner]),
    async settle({ key, owner, version, record, attempts }, outcome) {
      const mine = [key, owner, version]
      const settled = await settle()
      if (!settled) await write(sql.release, [key, owner])
      return settled

      async function settle() {
        if (outcome.kind === 'remove') return write(sql.settleRemove, mine)
        const failed = outcome.kind === 'failed'
        const standing = [
          outcome.due ?? null,
          failed ? outcome.problem : null,
          failed ? attempts + 1 : 0,
        ]
        if (!outcome.change) return write(sql.settle, [...standing, ...mine])
        const next = sameKey(outcome.change(record), key)
        const values = [...standing, JSON.stringify(next), ...columns(next), ...mine]
        return write(sql.settleChanged, values, next)
      }
    },
    async releaseAll() {
      await write(sql.releaseAll, [])
    },
    async nextDue() {
      const due = await value(sql.nextDue, [])
      return typeof due === 'undefined' || due === null ? undefined : Number(due)
    },
  }
  return table
}
