import type { Clock } from '#platform/clock.ts'
import type { Endpoint } from './endpoint.ts'
import type { AskOnce } from './upstream/adapt.ts'
import type { Streamed, UpstreamRequest, Whole } from './upstream/call.ts'
import { consequences, Failure } from './upstream/failure.ts'
import type { Health } from './upstream/health.ts'

/** One try of one model. */
export interface Attempt {
  readonly endpoint: Endpoint
  readonly ms: number
  /** Undefined for the one that answered. */
  readonly failure: Failure | undefined
}

/** ms. An attempt gets less time while another model is left to ask. */
export interface Limits {
  readonly total: number
  readonly attempt: number
  readonly firstToken: number
  readonly lastFirstToken: number
  readonly silence: number
}

export const usualLimits: Limits = {
  total: 600_000,
  attempt: 120_000,
  firstToken: 20_000,
  lastFirstToken: 60_000,
  silence: 60_000,
}

/** Rounds over the models: a model is asked again only after every other was asked. */
const rounds = 2
const pauseBetweenRounds = 200

export interface Dispatched {
  readonly endpoint: Endpoint
  readonly answer: Whole | Streamed
  readonly attempts: readonly Attempt[]
}

interface Skipped {
  readonly endpoint: Endpoint
  readonly why: string
  /** ms after which it may be asked again. */
  readonly after: number
}

export interface DispatchParts {
  readonly ask: AskOnce
  readonly clock: Clock
  readonly health: Health
}

/** No model answered. */
export class Unanswered extends Error {
  readonly attempts: readonly Attempt[]
  /** Models that were not even asked, and why. */
  readonly skipped: readonly Skipped[]

  constructor(attempts: readonly Attempt[], skipped: readonly Skipped[]) {
    super(
      [
        ...attempts.map(({ endpoint, failure }) => `${nameOf(endpoint)} ${failure?.message}`),
        ...skipped.map(({ endpoint, why }) => `${nameOf(endpoint)} is left alone for now: ${why}`),
      ].join('; '),
    )
    this.attempts = attempts
    this.skipped = skipped
  }
}

/** The caller went away; there is nobody to answer. */
export class Abandoned extends Error {}

const nameOf = ({ provider, model }: Endpoint): string => `${provider}/${model}`

/**
 * Asks the models in turn until one answers: the next model before a second try of the same, all
 * within one deadline. What no model can mend (a request that is wrong in itself) ends it at once.
 */
export const dispatch = async (
  { ask, clock, health }: DispatchParts,
  candidates: readonly Endpoint[],
  request: UpstreamRequest,
  limits: Limits,
  signal: AbortSignal,
): Promise<Dispatched> => {
  const deadline = clock.now() + limits.total
  const attempts: Attempt[] = []
  const skipped = new Map<Endpoint, Skipped>()
  let left = [...candidates]

  for (let round = 0; round < rounds && left.length > 0; round++) {
    if (round > 0) await pause(clock, pauseBetweenRounds, signal)
    const again: Endpoint[] = []
    for (const [index, endpoint] of left.entries()) {
      const remaining = deadline - clock.now()
      if (remaining <= 0) throw new Unanswered(attempts, [...skipped.values()])
      const paused = health.pause(endpoint)
      if (paused) {
        if (!attempts.some((attempt) => attempt.endpoint === endpoint))
          skipped.set(endpoint, { endpoint, why: paused.why, after: paused.until - clock.now() })
        continue
      }
      skipped.delete(endpoint)
      const others = index < left.length - 1
      const started = clock.now()
      health.begin(endpoint)
      try {
        const answer = await ask(
          endpoint,
          request,
          {
            total: others && !request.stream ? Math.min(limits.attempt, remaining) : remaining,
            firstToken: Math.min(others ? limits.firstToken : limits.lastFirstToken, remaining),
            silence: limits.silence,
          },
          signal,
        )
        attempts.push({ endpoint, ms: clock.now() - started, failure: undefined })
        return { endpoint, answer, attempts }
      } catch (error) {
        if (signal.aborted) {
          health.end(endpoint, 'abandoned')
          throw new Abandoned()
        }
        if (!(error instanceof Failure)) {
          health.end(endpoint, 'abandoned')
          throw error
        }
        health.end(endpoint, error)
        attempts.push({ endpoint, ms: clock.now() - started, failure: error })
        if (error.kind === 'bad_request') throw new Unanswered(attempts, [])
        if (consequences[error.kind].passing) again.push(endpoint)
      }
    }
    left = again
  }
  throw new Unanswered(attempts, [...skipped.values()])
}

const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.later(ms, done)
    signal.addEventListener('abort', done, { once: true })
  })
