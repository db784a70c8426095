import type { Collection } from '#core/collection.ts'
import type { Clock } from './clock.ts'
import { createWorker, type Worker } from './reconcile/worker.ts'
import type { Store } from './store/store.ts'

/** What a step came to: nothing more to do, unless it says so. */
export interface Step<T> {
  /** What was observed, written on the record as it stands. */
  change?: (current: T) => T
  /** Look again after so many ms. */
  again?: number
  /** Everything of the record is gone; now the record goes too. */
  remove?: true
}

/**
 * Brings about what a record asks for: looks at the world, acts, tells. It may be run at any time
 * and again after a crash, so it does nothing twice. It changes its record by `change` alone.
 */
export type Reconcile<T> = (record: T, context: StepContext) => Promise<Step<T>>

interface StepContext {
  /** Aborted when the platform stops, or another process has taken over the record. */
  readonly signal: AbortSignal
  /** Failures in a row before this step. */
  readonly attempts: number
}

export interface Reconciler {
  add<T extends object>(kind: Collection<T>, step: Reconcile<T>, options?: KindOptions): void
  start(): void
  /** Stops claiming, aborts running steps and waits for them. */
  stop(): Promise<void>
  /** Look now; the store's own writes are noticed without it. */
  wake(): void
  /** Run until nothing is due at the clock's time. */
  settle(): Promise<void>
}

export interface KindOptions {
  /** Steps of this kind at once. */
  parallel?: number
}

export interface ReconcilerParts {
  store: Store
  clock: Clock
  /** Names this process in leases; unique. */
  owner: string
  log: (sentence: string) => void
  /** What an earlier process left is taken over at once; by default if the store is not shared. */
  alone?: boolean
  /** From 0 to 1: spreads retries. */
  random?: () => number
}

/** One loop for all kinds of records. */
export const createReconciler = (parts: ReconcilerParts): Reconciler => {
  const workers = new Map<string, Worker>()
  const all = <R>(work: (worker: Worker) => R) => [...workers.values()].map(work)
  let unlisten = () => {}
  let started = false
  return {
    add(kind, step, options = {}) {
      if (workers.has(kind.name)) throw new Error(`${kind.name} has a reconciler already.`)
      const worker = createWorker(parts, kind, step, options)
      workers.set(kind.name, worker)
      if (started) worker.start()
    },
    start() {
      if (started) return
      started = true
      unlisten = parts.store.onDue((name) => workers.get(name)?.wake())
      all((worker) => worker.start())
    },
    async stop() {
      started = false
      unlisten()
      await Promise.all(all((worker) => worker.stop()))
    },
    wake: () => void all((worker) => worker.wake()),
    async settle() {
      let busy = true
      while (busy) busy = (await Promise.all(all((worker) => worker.drain()))).includes(true)
    },
  }
}
