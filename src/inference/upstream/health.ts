import type { Clock } from '#platform/clock.ts'
import type { Endpoint } from '../endpoint.ts'
import { consequences, type Failure } from './failure.ts'

/** Failures in a row that open a model's circuit. */
const tolerance = 3
const firstPause = 5000
const longestPause = 60_000
/** Failures longer ago than this are not of the same row. */
const memory = 600_000
/** No provider is believed that it wants to be left alone for longer. */
const longestCoolDown = 3_600_000

interface State {
  inFlight: number
  failures: number
  failedAt: number
  /** Left alone until then. */
  until: number
  why: string
  /** The circuit is open; after `until` one request may try. */
  open: boolean
  probing: boolean
}

const unblemished = { failures: 0, failedAt: 0, until: 0, why: '', open: false }

export interface Pause {
  readonly until: number
  readonly why: string
}

/** How each model has been doing: circuit breaker, cool-down and requests under way. */
export interface Health {
  /** Why the model is not to be asked now; undefined when it may. */
  pause(endpoint: Endpoint): Pause | undefined
  /** Whether a request to it is under way. */
  busy(endpoint: Endpoint): boolean
  begin(endpoint: Endpoint): void
  /** The request has ended, well or by `failure`; undefined when the caller went away. */
  end(endpoint: Endpoint, outcome: 'answered' | 'abandoned' | Failure): void
}

export const createHealth = (clock: Clock): Health => {
  const states = new Map<string, State>()
  const stateOf = (endpoint: Endpoint): State => {
    const known = states.get(endpoint.key)
    if (known) return known
    const fresh = { ...unblemished, inFlight: 0, probing: false }
    states.set(endpoint.key, fresh)
    return fresh
  }

  return {
    pause: (endpoint) => {
      const { until, why, open, probing, inFlight } = stateOf(endpoint)
      const now = clock.now()
      if (until > now) return { until, why }
      if (open && probing) return { until: now + 1000, why }
      if (endpoint.maxConcurrency !== null && inFlight >= endpoint.maxConcurrency)
        return { until: now + 1000, why: `has its ${endpoint.maxConcurrency} requests under way` }
      return undefined
    },

    busy: (endpoint) => stateOf(endpoint).inFlight > 0,

    begin: (endpoint) => {
      const state = stateOf(endpoint)
      state.inFlight++
      if (state.open) state.probing = true
    },

    end: (endpoint, outcome) => {
      const state = stateOf(endpoint)
      state.inFlight--
      state.probing = false
      if (outcome === 'abandoned') return
      if (outcome === 'answered') {
        Object.assign(state, unblemished)
        return
      }
      const { blames, coolDown } = consequences[outcome.kind]
      const asked = Math.min(outcome.retryAfter ?? coolDown, longestCoolDown)
      if (clock.now() - state.failedAt > memory) state.failures = 0
      if (blames) Object.assign(state, { failures: state.failures + 1, failedAt: clock.now() })
      if (state.failures >= tolerance) {
        const doublings = Math.min(state.failures - tolerance, 10)
        state.open = true
        state.until = clock.now() + Math.min(longestPause, firstPause * 2 ** doublings)
        state.why = `failed ${state.failures} times in a row; last: ${outcome.message}`
      }
      if (asked > 0 && (!blames || outcome.retryAfter !== undefined)) {
        state.until = Math.max(state.until, clock.now() + asked)
        state.why = outcome.message
      }
    },
  }
}
