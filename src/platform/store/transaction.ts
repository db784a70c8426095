import type { Driver, Row, Value } from './driver.ts'

export type Run = (sql: string, values?: readonly Value[], mayClash?: boolean) => Promise<Row[]>

/** What of a driver is the same inside a transaction. */
export type Outside = Pick<Driver, 'dialect' | 'shared' | 'layout' | 'nextId'>

/** Runs one work after the other, in the order asked. */
export const inTurn = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <R>(work: () => R | Promise<R>): Promise<R> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** Do the work inside a transaction that has begun; the caller commits, or rolls back on a throw. */
export const within = async <R>(
  outside: Outside,
  run: Run,
  work: (tx: Driver) => Promise<R>,
): Promise<R> => {
  let ended = false
  const failures: unknown[] = []
  const ifOpen: Run = async (...statement) => {
    if (ended) throw new Error('A transaction was used after its end: await all work inside it.')
    return run(...statement)
  }
  const part: Driver['transaction'] = async (work) => {
    try {
      return await work(tx)
    } catch (error) {
      failures.push(error)
      throw error
    }
  }
  const tx: Driver = {
    ...outside,
    read: ifOpen,
    value: async (sql, values) => (await ifOpen(sql, values))[0]?.[0],
    write: ifOpen,
    transaction: part,
    close: async () => {
      throw new Error('A transaction cannot close its store.')
    },
  }
  try {
    const result = await work(tx)
    if (failures.length > 0) throw failures[0]
    return result
  } finally {
    ended = true
  }
}
