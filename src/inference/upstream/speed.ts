import type { Clock } from '#platform/clock.ts'
import type { Endpoint } from '../endpoint.ts'

/** After this long without a request a measurement says half as much. */
const halfLife = 300_000
/** Below this weight a measurement is forgotten and the model measured anew. */
const forgotten = 0.25
/** Weight of the newest sample. */
const newest = 0.3
const usualOutput = 200

export interface Sample {
  /** ms to the first token; undefined for an answer that came whole. */
  readonly first: number | undefined
  readonly total: number
  readonly output: number
}

interface Measure {
  first: number
  perToken: number
  output: number
  at: number
}

/** Measured time to first token and rate of each model, older samples counting less. */
export interface Speed {
  record(endpoint: Endpoint, sample: Sample): void
  /** Expected ms for an answer of at most `limit` tokens; undefined when not measured lately. */
  expected(endpoint: Endpoint, limit: number | undefined): number | undefined
  /** Expected tokens of an answer. */
  output(endpoint: Endpoint, limit: number | undefined): number
}

export const createSpeed = (clock: Clock): Speed => {
  const measures = new Map<string, Measure>()
  const tokens = (measure: Measure | undefined, limit: number | undefined) =>
    Math.min(measure?.output ?? usualOutput, limit ?? Number.POSITIVE_INFINITY)

  return {
    record: ({ key }, { first, total, output }) => {
      const old = measures.get(key)
      const now = clock.now()
      const begun = first ?? Math.min(old?.first ?? 0, total)
      const fresh = { first: begun, perToken: (total - begun) / Math.max(1, output), output }
      // The longer ago the last sample, the less it holds back the new one.
      const share = old ? 1 - (1 - newest) * 0.5 ** ((now - old.at) / halfLife) : 1
      const mix = (name: 'first' | 'perToken' | 'output') =>
        old ? old[name] + share * (fresh[name] - old[name]) : fresh[name]
      measures.set(key, {
        first: mix('first'),
        perToken: mix('perToken'),
        output: mix('output'),
        at: now,
      })
    },
    expected: ({ key }, limit) => {
      const measure = measures.get(key)
      if (!measure || 0.5 ** ((clock.now() - measure.at) / halfLife) < forgotten) return undefined
      return measure.first + measure.perToken * tokens(measure, limit)
    },
    output: ({ key }, limit) => tokens(measures.get(key), limit),
  }
}
