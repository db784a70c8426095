import { collection } from '#core/collection.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Store } from '#platform/store/store.ts'
import type { Endpoint, Tokens } from './endpoint.ts'
import { costOf } from './endpoint.ts'

/** What was done for one router, task and model; an empty router means a direct call. */
export interface UsageRecord {
  key: string
  router: string
  task: string
  model: string
  provider: string
  requests: number
  failures: number
  input_tokens: number
  output_tokens: number
  cost: number
  /** How many answers took up to 2^(n/2) ms. */
  first_token: number[]
  total: number[]
}

export const usageRecords = collection<UsageRecord>('inference_usage', {
  called: 'Inference usage',
  key: 'key',
  indexes: ['router'],
})

export interface Measured {
  readonly router: string
  readonly task: string
  readonly endpoint: Endpoint
  readonly failed: boolean
  readonly tokens?: Tokens
  readonly firstToken?: number | undefined
  readonly total?: number
}

/** Counts in memory and writes what is new to the store once a second, so that no request waits. */
export interface InferenceMeter {
  record(measured: Measured): void
  /** Everything counted so far. */
  read(router?: string): Promise<UsageRecord[]>
  flush(): Promise<void>
}

const flushAfter = 1000
const buckets = 42

export const createInferenceMeter = (store: Store, clock: Clock, log: Log): InferenceMeter => {
  const table = store.collection(usageRecords)
  let fresh = new Map<string, UsageRecord>()
  let writing: Promise<void> = Promise.resolve()
  let planned = false

  const write = async () => {
    const batch = fresh
    fresh = new Map()
    for (const [key, record] of batch) {
      try {
        if (!(await table.get(key))) await table.insert({ ...empty(record), key })
        await table.update(key, (kept) => sum(kept, record))
      } catch (error) {
        // Another process may have made the row at the same moment: the counts wait for the next turn.
        fresh.set(key, sum(fresh.get(key) ?? empty(record), record))
        log.warn('Inference usage could not be written; it is tried again.', {
          cause: String(error),
        })
        plan()
      }
    }
  }
  const flush = () => {
    planned = false
    writing = writing.then(write)
    return writing
  }
  const plan = () => {
    if (planned) return
    planned = true
    clock.later(flushAfter, () => void flush())
  }

  return {
    record: (measured) => {
      const { router, task, endpoint } = measured
      const key = [router, task, endpoint.provider, endpoint.model].join('\n')
      const record = fresh.get(key) ?? {
        key,
        router,
        task,
        model: endpoint.model,
        provider: endpoint.provider,
        ...zero(),
      }
      fresh.set(key, record)
      add(record, measured)
      plan()
    },
    read: async (router) => {
      await flush()
      return table.list(router === undefined ? {} : { where: { router } })
    },
    flush,
  }
}

const zero = () => ({
  requests: 0,
  failures: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  first_token: Array<number>(buckets).fill(0),
  total: Array<number>(buckets).fill(0),
})

const empty = (record: UsageRecord): UsageRecord => ({ ...record, ...zero() })

const add = (record: UsageRecord, { endpoint, failed, tokens, firstToken, total }: Measured) => {
  record.requests++
  if (failed) record.failures++
  if (tokens) {
    record.input_tokens += tokens.input
    record.output_tokens += tokens.output
    record.cost += costOf(endpoint, tokens) ?? 0
  }
  if (firstToken !== undefined) count(record.first_token, firstToken)
  if (total !== undefined) count(record.total, total)
}

const count = (histogram: number[], ms: number) => {
  const bucket = Math.min(buckets - 1, Math.ceil(2 * Math.log2(Math.max(1, ms))))
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

const sum = (a: UsageRecord, b: UsageRecord): UsageRecord => ({
  ...a,
  requests: a.requests + b.requests,
  failures: a.failures + b.failures,
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cost: a.cost + b.cost,
  first_token: a.first_token.map((n, index) => n + (b.first_token[index] ?? 0)),
  total: a.total.map((n, index) => n + (b.total[index] ?? 0)),
})

/** The ms within which a share of the answers came; null when none was measured. */
export const percentile = (histogram: readonly number[], share: number): number | null => {
  const all = histogram.reduce((total, n) => total + n, 0)
  if (all === 0) return null
  let seen = 0
  const bucket = histogram.findIndex((n) => {
    seen += n
    return seen >= share * all
  })
  return Math.round(2 ** (bucket / 2))
}
