/** The next call could cost more than is left. */
export class CapReached extends Error {}

export interface Budget {
  /** Sets money aside for a call; what it answers books the real cost. */
  reserve(most: number): (cost: number) => void
  spent(): number
}

/** A hard cap: calls under way are counted at the most they can cost. */
export const createBudget = (cap: number | undefined, before: number): Budget => {
  let spent = before
  /** What a call really cost may teach that the estimates of those under way are too low. */
  let dearest = 0
  const underWay = new Set<{ estimate: number }>()
  const most = (estimate: number) => Math.max(estimate, dearest)
  return {
    reserve: (estimate) => {
      let left = cap === undefined ? Number.POSITIVE_INFINITY : cap - spent
      for (const call of underWay) left -= most(call.estimate)
      if (most(estimate) > left) {
        throw new CapReached(
          `The next call could cost up to $${most(estimate).toFixed(4)}, but of the cap of $${cap} only $${Math.max(0, left).toFixed(4)} is left.`,
        )
      }
      const call = { estimate }
      underWay.add(call)
      return (cost) => {
        underWay.delete(call)
        spent += cost
        dearest = Math.max(dearest, cost)
      }
    },
    spent: () => spent,
  }
}

/** Upper bounds, since a cap must hold: a token has at least two characters, mostly four. */
const charactersPerToken = 2
const usualAnswer = 4096

export interface Price {
  price_in: number | null
  price_out: number | null
}

/** The most that a call can cost. */
export const mostCost = (
  { price_in, price_out }: Price,
  request: { messages: readonly { content: string }[]; max_tokens?: number },
): number => {
  const characters = request.messages.reduce((sum, { content }) => sum + content.length, 0)
  const input = Math.ceil(characters / charactersPerToken) + 16 * request.messages.length
  const output = request.max_tokens ?? usualAnswer
  return (input * (price_in ?? 0) + output * (price_out ?? 0)) / 1e6
}
