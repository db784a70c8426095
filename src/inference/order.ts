import { costOf, type Endpoint } from './endpoint.ts'
import type { Speed } from './upstream/speed.ts'

export interface Demand {
  /** Tokens of the prompt, estimated. */
  readonly input: number
  /** The most tokens the caller allows. */
  readonly limit: number | undefined
}

/**
 * The models in the order in which to try them. `fastest` sends one request to a model that nobody
 * measured lately, since that is how it gets measured; `cheapest` takes those without a price last.
 */
export const ordered = (
  endpoints: readonly Endpoint[],
  prefer: string | undefined,
  demand: Demand,
  speed: Speed,
  busy: (endpoint: Endpoint) => boolean,
): Endpoint[] => {
  if (prefer === 'fastest') {
    const unmeasured = (endpoint: Endpoint) => (busy(endpoint) ? Number.POSITIVE_INFINITY : 0)
    return byRank(
      endpoints,
      (endpoint) => speed.expected(endpoint, demand.limit) ?? unmeasured(endpoint),
    )
  }
  if (prefer === 'cheapest') {
    return byRank(endpoints, (endpoint) => {
      const output = speed.output(endpoint, demand.limit)
      return costOf(endpoint, { input: demand.input, output }) ?? Number.POSITIVE_INFINITY
    })
  }
  return [...endpoints]
}

/** Equal ranks keep the order they were written in. */
const byRank = (endpoints: readonly Endpoint[], rank: (endpoint: Endpoint) => number) =>
  endpoints
    .map((endpoint) => ({ endpoint, at: rank(endpoint) }))
    .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
    .map(({ endpoint }) => endpoint)
