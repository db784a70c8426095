import type { Clock } from '#platform/clock.ts'

export interface TestClock extends Clock {
  /** Let time pass; timers run in order, each at its time. */
  advance(ms: number): void
}

export const testClock = (start = Date.parse('2026-01-01T00:00:00Z')): TestClock => {
  let now = start
  const timers = new Map<object, { at: number; work: () => void }>()
  const next = (until: number) =>
    [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0]
  return {
    now: () => now,
    later(ms, work) {
      const timer = {}
      timers.set(timer, { at: now + Math.max(0, ms), work })
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const until = now + ms
      for (let due = next(until); due; due = next(until)) {
        const [timer, { at, work }] = due
        timers.delete(timer)
        now = at
        work()
      }
      now = until
    },
  }
}
