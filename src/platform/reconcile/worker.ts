import type { Collection } from '#core/collection.ts'
import { messageOf } from '#core/error.ts'
import type { KindOptions, Reconcile, ReconcilerParts, Step } from '../reconcile.ts'
import type { Claim, Outcome } from '../store/store.ts'
import { inTurn } from '../store/transaction.ts'
import { holdLease, leaseTime } from './lease.ts'

/** ms between looks when nothing is known to be due: for what other processes leave behind. */
const idleTime = 15_000
/** ms to wait after a failure: doubled each time, within these bounds. */
const backOff = { first: 500, most: 60_000 }

export interface Worker {
  start(): void
  stop(): Promise<void>
  wake(): void
  /** Does what is due by now, and tells whether there was any. */
  drain(): Promise<boolean>
}

/** The reconciler of one kind. */
export const createWorker = <T extends object>(
  { store, clock, owner, log, alone = !store.shared, random = Math.random }: ReconcilerParts,
  kind: Collection<T>,
  step: Reconcile<T>,
  { parallel = 4 }: KindOptions,
): Worker => {
  const table = store.collection(kind)
  const running = new Map<Promise<void>, AbortController>()
  const turn = inTurn()
  let active = false
  let claims = 0
  let looking: Promise<void> | undefined
  let lookAgain = false
  let cancelSleep = () => {}

  const problem = (error: unknown) => log(`Reconciling ${kind.name}: ${messageOf(error)}`)

  const failed = (claim: Claim<T>, error: unknown): Outcome<T> => {
    const wait = Math.min(backOff.most, backOff.first * 2 ** claim.attempts) * (0.5 + random() / 2)
    const seconds = (wait / 1000).toFixed(1)
    log(`${kind.called} ${claim.key}: ${messageOf(error)} (next try in ${seconds} s)`)
    return { kind: 'failed', problem: messageOf(error), due: Math.ceil(clock.now() + wait) }
  }

  /** Undefined: interrupted, which is nobody's failure. */
  const attempt = async (claim: Claim<T>, signal: AbortSignal) => {
    try {
      return outcomeOf(await step(claim.record, { signal, attempts: claim.attempts }), clock.now())
    } catch (error) {
      return signal.aborted ? undefined : failed(claim, error)
    }
  }

  const run = async (claim: Claim<T>, abort: AbortController) => {
    const lease = holdLease(table, claim, clock, { abort, problem })
    const outcome = await attempt(claim, abort.signal)
    if (!lease.end()) return
    if (!outcome) return void (await table.extend(claim, 0))
    try {
      await table.settle(claim, outcome)
    } catch (error) {
      await table.settle(claim, failed(claim, error))
    }
  }

  /** Start what is due, as far as there is room; how many. Every claim has an owner of its own. */
  const fill = async () => {
    const [room, now] = [parallel - running.size, clock.now()]
    if (room <= 0) return 0
    const lease = { owner: `${owner}/${++claims}`, now, until: now + leaseTime, limit: room }
    const found = await table.claim(lease)
    for (const claim of found) {
      const abort = new AbortController()
      const work = run(claim, abort)
        .catch(problem)
        .finally(() => {
          running.delete(work)
          wake()
        })
      running.set(work, abort)
    }
    return found.length
  }

  /** Sleep until the next record is due; a full house is woken by the first that leaves. */
  const look = async () => {
    do {
      lookAgain = false
      cancelSleep()
      try {
        await turn(fill)
        const next = running.size < parallel ? await table.nextDue() : undefined
        sleep(next === undefined ? idleTime : Math.min(idleTime, next - clock.now()))
      } catch (error) {
        problem(error)
        sleep(idleTime)
      }
    } while (lookAgain && active)
    looking = undefined
  }
  const sleep = (ms: number) => {
    if (active) cancelSleep = clock.later(Math.max(0, ms), wake)
  }
  const wake = () => {
    if (!active) return
    lookAgain = true
    looking ??= look()
  }

  return {
    start() {
      active = true
      if (alone) turn(table.releaseAll).catch(problem)
      wake()
    },
    async stop() {
      active = false
      cancelSleep()
      await looking
      for (const abort of running.values()) abort.abort(new Error('The platform is stopping.'))
      await Promise.all(running.keys())
    },
    wake,
    async drain() {
      let worked = false
      while ((await turn(fill)) > 0 || running.size > 0) {
        worked = true
        if (running.size > 0) await Promise.race(running.keys())
      }
      return worked
    },
  }
}

const outcomeOf = <T>({ change, again, remove }: Step<T>, now: number): Outcome<T> =>
  remove
    ? { kind: 'remove' }
    : { kind: 'done', change, ...(again !== undefined && { due: Math.ceil(now + again) }) }
