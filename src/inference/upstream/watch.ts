import type { Clock } from '#platform/clock.ts'
import { Failure } from './failure.ts'

/** The deadlines of one call; the first to pass aborts it and says why. */
export interface Watch {
  readonly signal: AbortSignal
  /** The deadline that passed. */
  readonly expired: Failure | undefined
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

export const createWatch = (clock: Clock, outer: AbortSignal): Watch => {
  const controller = new AbortController()
  let expired: Failure | undefined
  let last = 0
  let cancelTotal = () => {}
  let cancelPart = () => {}
  const clear = () => {
    cancelTotal()
    cancelPart()
  }
  const forward = () => {
    clear()
    controller.abort(outer.reason)
  }
  if (outer.aborted) forward()
  else outer.addEventListener('abort', forward, { once: true })

  const expire = (ms: number, what: string) => {
    expired = new Failure('timeout', `${what} within ${ms / 1000} s`)
    controller.abort(expired)
  }
  return {
    signal: controller.signal,
    get expired() {
      return expired
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
    end: () => {
      clear()
      outer.removeEventListener('abort', forward)
    },
  }
}
