import { ApiError } from '#core/error.ts'
import type { Clock } from './clock.ts'

const windowMs = 60_000

export interface RateStanding {
  limit: number
  remaining: number
  /** Unix seconds at which the count starts anew. */
  reset: number
}

/** So many requests a minute for each token. `off` has no limit and says a very large one. */
export const createRateLimit = (perMinute: number | 'off', clock: Clock) => {
  const windows = new Map<string, { ends: number; used: number }>()
  const limit = perMinute === 'off' ? Number.MAX_SAFE_INTEGER : perMinute

  const standing = (who: string): RateStanding => {
    const now = clock.now()
    let window = windows.get(who)
    if (!window || window.ends <= now) {
      if (windows.size > 10_000) windows.clear()
      window = { ends: now + windowMs, used: 0 }
      windows.set(who, window)
    }
    window.used++
    return {
      limit,
      remaining: Math.max(0, limit - window.used),
      reset: Math.ceil(window.ends / 1000),
    }
  }

  return {
    count: standing,
    /** The refusal that a spent window gives, or undefined. */
    refusal: (who: string): ApiError | undefined => {
      const window = windows.get(who)
      if (!window || window.used <= limit) return undefined
      const seconds = Math.max(1, Math.ceil((window.ends - clock.now()) / 1000))
      return ApiError.tooMany(
        `More than ${limit} requests in a minute. Try again in ${seconds} s.`,
        seconds,
      )
    },
  }
}
