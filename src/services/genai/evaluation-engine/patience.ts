import { ApiError } from '#core/error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Limiter } from './limiter.ts'

/** Tries of one call that failed for a reason that passes. */
const tries = 4
/** ms of the first pause between tries, doubled each time up to the longest. */
const pause = { first: 500, most: 8000 }

/** Why a call was not even taken, and how long one waits in all until it is (ms). */
const waits = {
  /** The model takes no more for now, from nobody. */
  limited: { most: 10 * 60_000, unnamed: 1000, forAll: true },
  /** The model failed before, and is left alone for a while. */
  unavailable: { most: 60_000, unnamed: 1000, forAll: false },
}

/** Makes a call again and again within reason; the limiter says when. */
export const patiently = async <R>(
  { clock, limiter, signal }: { clock: Clock; limiter: Limiter; signal: AbortSignal },
  call: () => Promise<R>,
): Promise<R> => {
  const started = clock.now()
  for (let failed = 0; ; ) {
    const leave = await limiter.enter(signal)
    try {
      const answer = await call()
      leave('served')
      return answer
    } catch (error) {
      const wait = waitFor(error)
      leave(wait?.forAll ? { limitedFor: wait.ms } : 'other')
      signal.throwIfAborted()
      if (wait) {
        if (clock.now() - started + wait.ms > wait.most) throw error
        if (!wait.forAll) await sleep(clock, wait.ms, signal)
        continue
      }
      failed++
      if (!isPassing(error) || failed >= tries) throw error
      await sleep(clock, Math.min(pause.most, pause.first * 2 ** (failed - 1)), signal)
    }
  }
}

const waitFor = (error: unknown) => {
  if (!(error instanceof ApiError)) return undefined
  const { status, id, retryAfter } = error
  // A quota that is used up does not come back while one waits.
  const limited = status === 429 && id !== 'insufficient_quota'
  const left = status === 503 && id === 'models_unavailable'
  if (!limited && !left) return undefined
  const { most, unnamed, forAll } = limited ? waits.limited : waits.unavailable
  return { ms: retryAfter === undefined ? unnamed : Math.max(50, retryAfter * 1000), most, forAll }
}

const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.status === 408

export const sleep = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.later(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
