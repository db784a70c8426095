import type { Metric } from '../evaluation-metrics/contract.ts'
import type { FoundModel } from './resolve.ts'

/** What a run is expected to take; ranges, since nobody knows how long the answers will be. */
export interface Estimate {
  rows: number
  candidate_calls: number
  judge_calls: number
  total_calls: number
  cost_usd: { low: number; high: number } | null
  duration_seconds: { low: number; high: number }
}

export interface Plan {
  rows: number
  /** Characters that go to the candidate for one row, on average. */
  characters: number
  has_ground_truth: boolean
  metrics: readonly Metric[]
  candidate?: FoundModel | undefined
  judge?: FoundModel | undefined
  max_tokens?: number | undefined
}

/** Rules of thumb: characters of a token, tokens of a rubric and a verdict, answers, calls at once. */
const thumb = {
  charactersPerToken: 4,
  rubric: 350,
  verdict: { low: 40, high: 250 },
  answer: { low: 50, high: 600 },
  seconds: { low: 0.5, high: 6 },
  parallel: 32,
}

const millionth = 1e-6

export const estimate = (plan: Plan): Estimate => {
  const { rows } = plan
  const judge_calls = rows * judgementsOf(plan)
  const total_calls = rows + judge_calls
  const waves = Math.ceil(rows / thumb.parallel) + Math.ceil(judge_calls / thumb.parallel)
  return {
    rows,
    candidate_calls: rows,
    judge_calls,
    total_calls,
    cost_usd: costOf(plan, judge_calls),
    duration_seconds: {
      low: Math.ceil(waves * thumb.seconds.low),
      high: Math.ceil(waves * thumb.seconds.high),
    },
  }
}

/** Calls to the judge for one row. */
const judgementsOf = ({ metrics, has_ground_truth }: Plan): number =>
  metrics
    .filter((metric) => has_ground_truth || !metric.needs?.includes('ground_truth'))
    .reduce(
      (sum, { scoring }) => sum + (scoring === 'computed' ? 0 : scoring === 'pairwise' ? 2 : 1),
      0,
    )

const costOf = (plan: Plan, judge_calls: number): Estimate['cost_usd'] => {
  const { candidate, judge, rows } = plan
  const free = judge_calls === 0
  if (candidate?.price_in === undefined || (!free && judge?.price_in === undefined)) return null
  const input = plan.characters / thumb.charactersPerToken
  const at = (bound: 'low' | 'high') => {
    const answer = Math.min(thumb.answer[bound], plan.max_tokens || Number.POSITIVE_INFINITY)
    const answering =
      rows * (input * (candidate.price_in ?? 0) + answer * (candidate.price_out ?? 0))
    const judging =
      judge_calls *
      ((thumb.rubric + input + answer) * (judge?.price_in ?? 0) +
        thumb.verdict[bound] * (judge?.price_out ?? 0))
    return Number(((answering + judging) * millionth).toPrecision(2))
  }
  return { low: at('low'), high: at('high') }
}

/** The estimate in words. */
export const inWords = (guess: Estimate): string => {
  const { cost_usd, duration_seconds: time } = guess
  const cost = cost_usd
    ? `Estimated cost: $${cost_usd.low} to $${cost_usd.high}.`
    : 'The cost is unknown, since not every model has a price.'
  return [
    `${guess.total_calls} model calls (${guess.candidate_calls} to the candidate, ${guess.judge_calls} to the judge).`,
    cost,
    `Estimated time: ${spell(time.low)} to ${spell(time.high)}.`,
  ].join(' ')
}

const spell = (seconds: number): string =>
  seconds < 90
    ? `${seconds} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 360) / 10} h`
