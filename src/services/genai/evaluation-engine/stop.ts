import { messageOf } from '#core/error.ts'

/** Failures in a row after which it is not the row's fault. */
const mostInARow = 10

/** Nothing more is asked: what answers, or judges, fails again and again. */
export class GivenUp extends Error {}

/** Counts failures in a row and says when it is enough. */
export const createPatienceMeter = (who: string) => {
  let inARow = 0
  return {
    succeeded: () => {
      inARow = 0
    },
    failed: (error: unknown) => {
      inARow++
      if (inARow < mostInARow) return
      throw new GivenUp(`${who} failed ${inARow} times in a row, last: ${messageOf(error)}`)
    },
  }
}
