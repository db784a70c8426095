import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Store } from '#platform/store/store.ts'
import { createCatalogue, type Snapshot } from './catalogue.ts'
import { createClassifier } from './classify/classifier.ts'
import {
  type Attempt,
  type Dispatched,
  dispatch,
  type Limits,
  Unanswered,
  usualLimits,
} from './dispatch.ts'
import type { Endpoint, Surface, Tokens } from './endpoint.ts'
import { createInferenceMeter, type InferenceMeter } from './meter.ts'
import { type Plan, planFor } from './plan.ts'
import { createAsk } from './upstream/adapt.ts'
import type { Streamed } from './upstream/call.ts'
import { Failure } from './upstream/failure.ts'
import { createHealth, type Health } from './upstream/health.ts'
import { createSpeed } from './upstream/speed.ts'
import { createTransport, type Send, type Transport } from './upstream/transport.ts'

export interface InferenceParts {
  store: Store
  clock: Clock
  log: Log
  /** Holds the keys of providers, by the names they were declared with. */
  env: Readonly<Record<string, string | undefined>>
  transport?: Transport
}

export interface Ask {
  readonly surface: Surface
  /** A model, `provider/model` or `router:<name>`. */
  readonly model: string
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly limits?: Partial<Limits>
}

/** How an answer came about. */
export interface Route {
  readonly router: string
  readonly task: string
  readonly confidence: number | undefined
  readonly endpoint: Endpoint
  readonly attempts: readonly Attempt[]
}

export type Answered = Route &
  (
    | {
        stream: false
        text: string
        json: Record<string, unknown>
        tokens: Tokens
        requestId: string | undefined
      }
    | {
        stream: true
        /** The bytes of whole events. A stream that is cut fails with a `Failure`. */
        events: AsyncGenerator<Buffer, void, undefined>
        requestId: string | undefined
      }
  )

/** The runtime: models by name, asked with fallback, measured and metered. */
export interface Inference {
  /** Models and routers that callers may name. */
  known(): Promise<Snapshot>
  /** Answers by a model or a router; `Unanswered` when none did, `ApiError` when the ask is wrong. */
  ask(ask: Ask): Promise<Answered>
  /** The same for an endpoint that is in no catalogue. */
  askEndpoint(endpoint: Endpoint, ask: Omit<Ask, 'model'>): Promise<Answered>
  /** Models or routers were written. */
  changed(): void
  /** How many models were known at the last look. */
  modelCount(): number
  /** Let the classifier learn before the first request. */
  warm(): void
  send: Send
  health: Health
  meter: InferenceMeter
  close(): Promise<void>
}

export const createInference = ({
  store,
  clock,
  log,
  env,
  transport = createTransport(),
}: InferenceParts): Inference => {
  const catalogue = createCatalogue(store, clock)
  const classifier = createClassifier()
  const health = createHealth(clock)
  const speed = createSpeed(clock)
  const meter = createInferenceMeter(store, clock, log)
  const parts = { ask: createAsk({ send: transport.send, clock, env }), clock, health }

  const run = async (plan: Plan, { surface, body, signal, limits }: Omit<Ask, 'model'>) => {
    const stream = body.stream === true
    const wantsUsage = (body.stream_options as { include_usage?: unknown } | undefined)
      ?.include_usage
    const quietUsage = stream && surface === 'chat/completions' && wantsUsage !== true
    const started = clock.now()
    try {
      const dispatched = await dispatch(
        parts,
        plan.candidates,
        { surface, body, stream, quietUsage },
        { ...usualLimits, ...limits },
        signal,
      )
      recordFailures(plan, dispatched.attempts)
      return answered(plan, dispatched, started, signal)
    } catch (error) {
      if (error instanceof Unanswered) recordFailures(plan, error.attempts)
      throw error
    }
  }

  const recordFailures = ({ router, task }: Plan, attempts: readonly Attempt[]) => {
    for (const { endpoint, failure } of attempts) {
      if (failure) meter.record({ router, task, endpoint, failed: true })
    }
  }

  const answered = (
    plan: Plan,
    { endpoint, answer, attempts }: Dispatched,
    started: number,
    signal: AbortSignal,
  ) => {
    const { router, task, confidence, demand } = plan
    const route: Route = { router, task, confidence, endpoint, attempts }
    const asked = attempts.at(-1)?.ms ?? 0
    if (answer.stream) {
      return {
        ...route,
        stream: true,
        events: watched(plan, endpoint, answer, clock.now() - asked, signal),
        requestId: answer.requestId,
      } satisfies Answered
    }
    const tokens = answer.usage ?? {
      input: demand.input,
      output: Math.ceil(answer.text.length / 4),
    }
    health.end(endpoint, 'answered')
    speed.record(endpoint, { first: undefined, total: asked, output: tokens.output })
    meter.record({ router, task, endpoint, failed: false, tokens, total: clock.now() - started })
    const { text, json, requestId } = answer
    return { ...route, stream: false, text, json, tokens, requestId } satisfies Answered
  }

  /** The events of a stream; how it went is told once: at its end, or when the caller goes away. */
  const watched = (
    plan: Plan,
    endpoint: Endpoint,
    { reading, firstAfter, events }: Streamed,
    began: number,
    signal: AbortSignal,
  ) => {
    const { router, task, demand } = plan
    let told = false
    const tell = (outcome: 'answered' | 'abandoned' | Failure) => {
      if (told) return
      told = true
      signal.removeEventListener('abort', abandoned)
      health.end(endpoint, outcome)
      const tokens = reading.usage ?? { input: demand.input, output: reading.deltas }
      const total = clock.now() - began
      if (outcome === 'answered') {
        speed.record(endpoint, { first: firstAfter, total, output: tokens.output })
      }
      const failed = outcome instanceof Failure
      meter.record({ router, task, endpoint, failed, tokens, firstToken: firstAfter, total })
    }
    const abandoned = () => tell('abandoned')
    signal.addEventListener('abort', abandoned, { once: true })

    async function* relayed() {
      try {
        yield* events()
        tell(reading.error === undefined ? 'answered' : new Failure('server', reading.error))
      } catch (error) {
        if (error instanceof Failure) tell(error)
        throw error
      } finally {
        tell('abandoned')
      }
    }
    return relayed()
  }

  return {
    known: catalogue.now,
    changed: catalogue.changed,
    modelCount: catalogue.modelCount,
    warm: () => void classifier.warm(),
    ask: async (ask) => {
      const snapshot = await catalogue.now()
      return run(
        await planFor({ classifier, speed, health }, snapshot, ask.model, ask.surface, ask.body),
        ask,
      )
    },
    askEndpoint: (endpoint, ask) =>
      run(
        {
          router: '',
          task: '',
          confidence: undefined,
          candidates: [endpoint],
          demand: { input: 0, limit: undefined },
        },
        ask,
      ),
    send: transport.send,
    health,
    meter,
    close: async () => {
      await meter.flush()
      transport.close()
    },
  }
}
