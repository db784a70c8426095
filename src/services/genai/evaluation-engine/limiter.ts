import type { Clock } from '#platform/clock.ts'

/** How a call ended, as far as the limit is concerned. */
export type Ended = 'served' | 'other' | { limitedFor: number }

export interface Limiter {
  /** Waits for a place; what it answers gives the place back. */
  enter(signal: AbortSignal): Promise<(ended: Ended) => void>
  /** Calls that may run at once by now. */
  limit(): number
}

/** So many at the start; doubled with every round until the other side first says no. */
const firstLimit = 8

/**
 * How many calls one model gets at once: more while it serves them, half as many when it says that
 * there are too many, and none until the time it names.
 */
export const createLimiter = (clock: Clock, max: number): Limiter => {
  let limit = Math.min(firstLimit, max)
  let running = 0
  let everLimited = false
  let openAt = 0
  let opening = false
  const waiting: (() => void)[] = []

  const admit = () => {
    const wait = openAt - clock.now()
    if (wait > 0) {
      if (opening) return
      opening = true
      clock.later(wait, () => {
        opening = false
        admit()
      })
      return
    }
    while (running < Math.floor(limit)) {
      const next = waiting.shift()
      if (!next) return
      running++
      next()
    }
  }

  const adapt = (ended: Ended) => {
    if (ended === 'served') limit = Math.min(max, limit + (everLimited ? 1 / limit : 1))
    if (typeof ended !== 'object') return
    // Calls that were on their way together are refused together: that counts once.
    if (clock.now() >= openAt) limit = Math.max(1, limit / 2)
    everLimited = true
    openAt = Math.max(openAt, clock.now() + ended.limitedFor)
  }

  return {
    limit: () => Math.floor(limit),
    enter: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const give = () => {
          signal.removeEventListener('abort', leave)
          resolve((ended) => {
            running--
            adapt(ended)
            admit()
          })
        }
        const leave = () => {
          const at = waiting.indexOf(give)
          if (at >= 0) waiting.splice(at, 1)
          reject(signal.reason)
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.push(give)
        admit()
      }),
  }
}
