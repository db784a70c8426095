import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import {
  type StoredActivation,
  type StoredInvocation,
  storedActivations,
  storedInvocations,
} from '../activations/records.ts'
import type { Ground } from './ground.ts'

export interface ActivationQuery {
  namespace: string
  /** `package/name` or `name` */
  name?: string | undefined
  since?: number | undefined
  upto?: number | undefined
  limit: number
  skip: number
}

/** Keeps what calls came to. Many writes of one moment go to the disk as one. */
export interface Recorder {
  /** A call that will get a record whatever happens; resolves when that is on disk. */
  accept(invocation: StoredInvocation): Promise<void>
  /** The record, and with it the end of an accepted call. Readable at once; resolves when on disk. */
  record(activation: StoredActivation, accepted: boolean): Promise<void>
  get(namespace: string, id: string): Promise<StoredActivation | undefined>
  list(query: ActivationQuery): Promise<StoredActivation[]>
  count(query: ActivationQuery): Promise<number>
  /** Forget records that are older than they are kept. */
  expire(): Promise<number>
  flush(): Promise<void>
}

interface Job {
  work: (tx: Store) => Promise<unknown>
  done: () => void
  failed: (error: unknown) => void
}

const page = 500
/** ms that records wait for others, to be written with them. */
const gather = 20
/** A call that began before it may have ended after: lists go by the end, filters by the start. */
const longestCall = 1_000_000

export const createRecorder = ({ store, clock, settings }: Ground): Recorder => {
  const table = store.collection(storedActivations)
  const unwritten = new Map<string, StoredActivation>()
  let jobs: Job[] = []
  let writing: Promise<void> | undefined

  let hurry = () => {}

  const enqueue = (work: Job['work'], urgent: boolean): Promise<void> =>
    new Promise((done, failed) => {
      jobs.push({ work, done, failed })
      writing ??= write()
      if (urgent) hurry()
    })

  const write = async () => {
    while (jobs.length > 0) {
      // What arrives meanwhile is written together; someone who waits gets it after this turn.
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, gather)
        hurry = () => {
          clearTimeout(timer)
          setImmediate(resolve)
        }
      })
      const batch = jobs
      jobs = []
      try {
        const refused = await store.transaction((tx) => writeAll(tx, batch))
        for (const job of batch)
          if (refused.has(job)) job.failed(refused.get(job))
          else job.done()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    writing = undefined
  }

  const inWindow = ({ since = 0, upto = Number.POSITIVE_INFINITY }: ActivationQuery) => {
    return ({ start }: StoredActivation) => start >= since && start <= upto
  }
  const where = ({ namespace, name }: ActivationQuery) =>
    name === undefined ? { namespace } : { path: `${namespace}/${name}` }

  /** Newest first, page by page, until `enough` were found. */
  const matching = async (query: ActivationQuery, enough: number) => {
    const fits = inWindow(query)
    const found: StoredActivation[] = []
    const step = query.since === undefined && query.upto === undefined ? enough : page
    for (let offset = 0; found.length < enough; offset += step) {
      const some = await table.list({ where: where(query), newestFirst: true, limit: step, offset })
      for (const each of some) if (fits(each)) found.push(each)
      const last = some.at(-1)
      if (some.length < step || !last || last.end < (query.since ?? 0) - longestCall) break
    }
    return found
  }

  const fresh = (query: ActivationQuery) =>
    [...unwritten.values()]
      .filter(({ namespace, path }) =>
        query.name === undefined
          ? namespace === query.namespace
          : path === `${query.namespace}/${query.name}`,
      )
      .filter(inWindow(query))
      .reverse()

  return {
    accept: (invocation) =>
      enqueue((tx) => tx.collection(storedInvocations).insert(invocation), true),
    record: async (activation, accepted) => {
      const { activationId } = activation
      unwritten.set(activationId, activation)
      try {
        await enqueue(async (tx) => {
          await once(tx.collection(storedActivations).insert(activation))
          if (accepted) await tx.collection(storedInvocations).remove(activationId)
        }, false)
      } finally {
        unwritten.delete(activationId)
      }
    },
    get: async (namespace, id) => {
      const found = unwritten.get(id) ?? (await table.get(id))
      return found?.namespace === namespace ? found : undefined
    },
    list: async (query) => {
      const first = fresh(query)
      const kept = await matching(query, query.skip + query.limit)
      const ids = new Set(first.map(({ activationId }) => activationId))
      return [...first, ...kept.filter(({ activationId }) => !ids.has(activationId))].slice(
        query.skip,
        query.skip + query.limit,
      )
    },
    count: async (query) =>
      query.since === undefined && query.upto === undefined
        ? table.count(where(query))
        : (await matching(query, Number.MAX_SAFE_INTEGER)).length,
    expire: async () => {
      const oldest = clock.now() - settings.retention
      let removed = 0
      for (;;) {
        const some = await table.list({ limit: page })
        const old = some.filter(({ end }) => end < oldest)
        await store.transaction(async (tx) => {
          for (const { activationId } of old)
            await tx.collection(storedActivations).remove(activationId)
        })
        removed += old.length
        if (old.length < page) return removed
      }
    },
    flush: async () => {
      while (writing) {
        hurry()
        await writing
      }
    },
  }
}

/** A record that is there already stops only the one who would write it again. */
const writeAll = async (tx: Store, batch: Job[]): Promise<Map<Job, unknown>> => {
  const refused = new Map<Job, unknown>()
  for (const job of batch) {
    try {
      await job.work(tx)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      refused.set(job, error)
    }
  }
  return refused
}

/** A call that has a record already keeps that one. */
const once = async (insert: Promise<unknown>) => {
  try {
    await insert
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
  }
}
