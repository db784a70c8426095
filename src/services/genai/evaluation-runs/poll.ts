import { decimal } from '#mcp/args.ts'
import type { ToolContext } from '#mcp/tool.ts'

/** How long a workflow waits for its run. */
export const timing = {
  timeout_seconds: decimal('Seconds to wait', 1).default(300),
  poll_interval_seconds: decimal('Seconds between looks', 0.05).default(5),
}

interface Polled<R> {
  /** Look once. */
  look(): Promise<R>
  over(state: R): boolean
  /** How far it is, for the progress notification. */
  tell(state: R): { done: number; total: number; message: string }
}

/** Looks until it is over; undefined when the time is up. */
export const pollUntilOver = async <R>(
  { progress, sleep }: Pick<ToolContext, 'progress' | 'sleep'>,
  { timeout_seconds, poll_interval_seconds }: Timing,
  { look, over, tell }: Polled<R>,
): Promise<R | undefined> => {
  const end = performance.now() + timeout_seconds * 1000
  for (;;) {
    const state = await look()
    const { done, total, message } = tell(state)
    progress(done, total, message)
    if (over(state)) return state
    const left = end - performance.now()
    if (left <= 0) return undefined
    await sleep(Math.min(left, poll_interval_seconds * 1000))
  }
}

export interface Timing {
  timeout_seconds: number
  poll_interval_seconds: number
}

/** Seconds with three decimals. */
export const secondsSince = (start: number): number => Math.round(performance.now() - start) / 1000
