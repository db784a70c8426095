/** Time, passed in: tests advance it and never sleep. */
export interface Clock {
  /** ms since the epoch */
  now(): number
  /** Run `work` after `ms`; the answer cancels it. A pending timer never keeps the process alive. */
  later(ms: number, work: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  later: (ms, work) => {
    const timer = setTimeout(work, Math.min(ms, 2 ** 31 - 1))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The clock's time as the API writes it. */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString()
