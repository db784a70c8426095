import type { Clock } from '../clock.ts'
import type { Claim, Table } from '../store/store.ts'

/** ms that a claim lasts unless extended: so long another process waits after a crash. */
export const leaseTime = 15_000

/**
 * Keeps a claim while its step runs, and aborts the step when it is lost. A store that fails for a
 * moment is asked again; if it fails for long, the lease ends and the next extension tells.
 */
export const holdLease = <T extends object>(
  table: Table<T>,
  claim: Claim<T>,
  clock: Clock,
  parts: { abort: AbortController; problem: (error: unknown) => void },
) => {
  let held = true
  let cancel = () => {}
  const sleep = () => {
    cancel = clock.later(leaseTime / 3, () => void extend().catch(parts.problem))
  }
  const extend = async () => {
    sleep()
    if (await table.extend(claim, clock.now() + leaseTime)) return
    cancel()
    held = false
    parts.abort.abort(new Error(`${claim.key} was removed, or another process has taken it over.`))
  }
  sleep()
  return {
    /** Whether the claim is still ours, as far as we know. */
    end: () => {
      cancel()
      return held
    },
  }
}
