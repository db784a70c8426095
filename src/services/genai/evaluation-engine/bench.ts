import { createHash } from 'node:crypto'
import type { Objects } from '#engines/objects/objects.ts'
import type { Clock } from '#platform/clock.ts'
import type { Store } from '#platform/store/store.ts'
import type { Similarity } from '../evaluation-metrics/computed.ts'
import type { RunRecord } from '../evaluation-runs/record.ts'
import { type Budget, mostCost, type Price } from './budget.ts'
import { answerCache } from './cache.ts'
import type { Limiter } from './limiter.ts'
import type { Chat, ChatAnswer, ChatRequest, DirectEndpoint } from './models.ts'
import { patiently } from './patience.ts'
import type { Commit } from './writer.ts'

/** What the engine is given. */
export interface EngineParts {
  store: Store
  clock: Clock
  objects: Objects
  chat: Chat
  similarity: Similarity
  fetch: (request: Request) => Promise<Response>
  /** Holds the keys of deployments, by the names they were declared with. */
  env: Readonly<Record<string, string | undefined>>
}

/** One run while it is worked on. */
export interface Work extends EngineParts {
  run: RunRecord
  signal: AbortSignal
  commit: Commit
  budget: Budget
  limiter(target: string): Limiter
}

/** ms that one call may take. */
export const callDeadline = 120_000

export interface Priced extends ChatAnswer {
  cost_usd: number
  /** Of the call that answered. */
  ms: number
  /** Taken from an earlier run; nothing was called. */
  reused: boolean
}

/** One call of a run: within its limits, its budget and its patience, or out of the cache. */
export const callModel = async (
  work: Work,
  target: string | DirectEndpoint,
  price: Price,
  wish: ChatRequest,
): Promise<Priced> => {
  const { run, clock, signal, budget } = work
  const capped = run.limits.max_cost_usd !== undefined
  // Without an end to the answer there would be no end to its cost.
  const request = capped && wish.max_tokens === undefined ? { ...wish, max_tokens: 4096 } : wish
  const key = typeof target === 'string' ? target : target.key
  const hash = run.limits.reuse_answers ? hashOf(key, request) : undefined
  const known = hash && (await work.store.collection(answerCache).get(hash))
  if (known) return { ...known.answer, cost_usd: 0, ms: 0, reused: true }
  const { answer, ms } = await patiently(
    { clock, limiter: work.limiter(key), signal },
    async () => {
      const book = budget.reserve(mostCost(price, request))
      const started = clock.now()
      try {
        const given = await work.chat(target, request, { signal, deadline: callDeadline })
        book(given.cost ?? 0)
        return { answer: given, ms: clock.now() - started }
      } catch (error) {
        book(0)
        throw error
      }
    },
  )
  if (hash) await work.commit((tx) => tx.collection(answerCache).put({ hash, answer }))
  return { ...answer, cost_usd: answer.cost ?? 0, ms, reused: false }
}

const hashOf = (target: string, request: ChatRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([target, request]))
    .digest('hex')
