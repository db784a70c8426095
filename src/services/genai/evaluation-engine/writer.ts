import type { Store } from '#platform/store/store.ts'

export type Commit = (work: (tx: Store) => Promise<unknown>) => Promise<void>

/**
 * Writes what comes in while a transaction runs in the next one, all together: each is durable when
 * its promise is kept, and a fast run does not wait for one transaction a result.
 */
export const createWriter = (store: Store): Commit => {
  let queue: Job[] = []
  let writing = false

  const flush = async () => {
    writing = true
    while (queue.length > 0) {
      const jobs = queue
      queue = []
      try {
        await store.transaction(async (tx) => {
          for (const { work } of jobs) await work(tx)
        })
        for (const { resolve } of jobs) resolve()
      } catch (error) {
        for (const { reject } of jobs) reject(error)
      }
    }
    writing = false
  }

  return (work) =>
    new Promise((resolve, reject) => {
      queue.push({ work, resolve, reject })
      if (!writing) void flush()
    })
}

interface Job {
  work: (tx: Store) => Promise<unknown>
  resolve: () => void
  reject: (error: unknown) => void
}
