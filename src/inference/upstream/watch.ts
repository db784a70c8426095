import type { Clock } from '#platform/clock.ts'
import { Failure } from './failure.ts'

/** The deadlines of one call; the first to pass breaks it off and says why. */
export interface Watch {
  /** The deadline that passed. */
  readonly expired: Failure | undefined
  /** What to do when time is up or the caller goes away. */
  breakable(breakOff: (why: Error) => void): void
  /** The call must be over by then. */
  total(ms: number): void
  /** The first token must be there by then. */
  firstToken(ms: number): void
  /** The first token is there; from now on silence may last no longer than this. */
  silence(ms: number): void
  /** Something came. */
  alive(): void
  end(): void
}

const nothing = () => {}

export const createWatch = (clock: Clock, caller: AbortSignal): Watch => {
  let expired: Failure | undefined
  let last = 0
  let cancelTotal = nothing
  let cancelPart = nothing
  let breakOff: (why: Error) => void = nothing
  const end = () => {
    cancelTotal()
    cancelPart()
    caller.removeEventListener('abort', gone)
  }
  const gone = () => {
    end()
    breakOff(new Error('the caller went away'))
  }
  const expire = (ms: number, what: string) => {
    expired = new Failure('timeout', `${what} within ${ms / 1000} s`)
    end()
    breakOff(expired)
  }
  caller.addEventListener('abort', gone, { once: true })

  return {
    get expired() {
      return expired
    },
    breakable: (how) => {
      breakOff = how
      if (caller.aborted) gone()
    },
    total: (ms) => {
      cancelTotal = clock.later(ms, () => expire(ms, 'did not finish its answer'))
    },
    firstToken: (ms) => {
      cancelPart = clock.later(ms, () => expire(ms, 'sent no first token'))
    },
    silence: (ms) => {
      cancelPart()
      last = clock.now()
      // One timer that looks when the last byte came costs less than one for each byte.
      const look = () => {
        const left = last + ms - clock.now()
        if (left <= 0) expire(ms, 'fell silent and sent nothing more')
        else cancelPart = clock.later(left, look)
      }
      cancelPart = clock.later(ms, look)
    },
    alive: () => {
      last = clock.now()
    },
    end,
  }
}
