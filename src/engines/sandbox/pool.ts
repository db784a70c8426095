import { ApiError } from '#core/error.ts'
import type { Box } from './box.ts'
import type { PoolStats } from './invoker.ts'
import { createShelf } from './shelf.ts'

/** A sandbox that a call asks for. */
export interface Want {
  /** Only calls with the same key may ever use the same sandbox. */
  key: string
  /** MB */
  memory: number
  /** Kind of started sandbox without code that would do. */
  kind?: string
  /** A new one, when none is at hand. */
  start: () => Promise<Box>
}

export interface Lease {
  box: Box
  /** Whether it has yet to take in the code. */
  fresh: boolean
  /** Give it back; a sandbox that is not reusable ends. */
  release(reusable: boolean): void
}

export interface PoolSettings {
  /** MB that all sandboxes together may be promised. */
  budget: number
  /** Calls that may wait for a sandbox; the next one is refused. */
  queue: number
  /** ms after which an idle sandbox ends. */
  idle: number
  /** ms after which an idle sandbox is stopped until its next call. */
  pause: number
  /** Sandboxes that may be starting at the same time. */
  starting: number
}

/** Started sandboxes to keep at hand, without code. */
export interface Reserve {
  kind: string
  count: number
  memory: number
  start: () => Promise<Box>
}

export interface Pool {
  take(want: Want): Promise<Lease>
  /** End those whose key starts so: idle ones now, busy ones after their call. */
  evict(prefix: string): void
  stats(): PoolStats
  fill(): void
  close(): Promise<void>
}

interface Member {
  box: Box
  key: string
  memory: number
  since: number
  doomed: boolean
}

interface Waiter {
  want: Want
  since: number
  give: (lease: Promise<Lease>) => void
}

/**
 * ms that a call waits for one of its action's busy sandboxes, when as many as there are cores are
 * at work, before another is started: short calls then share few, slow ones still get their own.
 */
const patience = 20

export const createPool = (
  settings: PoolSettings,
  reserves: Reserve[],
  log: (message: string) => void,
): Pool => {
  const idle = createShelf<Member>()
  const busy = new Set<Member>()
  const ready = createShelf<Member>()
  const filling = new Map<string, number>()
  const waiting: Waiter[] = []
  const ending = new Set<Promise<void>>()
  /** Busy sandboxes by key. */
  const atWork = new Map<string, number>()
  let used = 0
  let freeing = 0
  let starting = 0
  let sweeper: NodeJS.Timeout | undefined
  let closed = false

  const end = (member: Member) => {
    freeing += member.memory
    const work = member.box
      .kill()
      .catch((error: Error) => log(error.message))
      .then(() => {
        used -= member.memory
        freeing -= member.memory
        ending.delete(work)
        pump()
      })
    ending.add(work)
  }

  /** Whether so much memory is free; what is missing is being freed from those that wait. */
  const room = (memory: number): boolean => {
    while (used - freeing + memory > settings.budget) {
      const spare = idle.oldest() ?? ready.oldest()
      if (!spare) return false
      if (!idle.remove(spare)) ready.remove(spare)
      end(spare)
    }
    return used + memory <= settings.budget
  }

  const begin = async (key: string, memory: number, start: () => Promise<Box>): Promise<Member> => {
    starting++
    used += memory
    try {
      const box = await start()
      const member = { box, key, memory, since: performance.now(), doomed: false }
      box.onExit(() => {
        if (idle.remove(member) || ready.remove(member)) end(member)
      })
      return member
    } catch (error) {
      used -= memory
      throw error
    } finally {
      starting--
    }
  }

  const lease = (member: Member, fresh: boolean): Lease => {
    busy.add(member)
    atWork.set(member.key, (atWork.get(member.key) ?? 0) + 1)
    return {
      box: member.box,
      fresh,
      release: (reusable) => {
        busy.delete(member)
        const left = (atWork.get(member.key) ?? 1) - 1
        if (left > 0) atWork.set(member.key, left)
        else atWork.delete(member.key)
        if (!reusable || member.doomed || closed || !member.box.usable()) return end(member)
        member.since = performance.now()
        idle.put(member)
        pump()
        sweeper ??= setTimeout(sweep, settings.pause).unref()
      },
    }
  }

  const serve = (
    { key, memory, kind, start }: Want,
    waited: number,
  ): Promise<Lease> | undefined => {
    for (let warm = idle.newest(key); warm; warm = idle.newest(key)) {
      idle.remove(warm)
      if (!warm.box.usable()) {
        end(warm)
        continue
      }
      warm.box.resume()
      return Promise.resolve(lease(warm, false))
    }
    if (waited < patience && (atWork.get(key) ?? 0) >= settings.starting) return undefined
    const cell = kind === undefined ? undefined : ready.first(kind)
    if (cell?.box.usable() && used - cell.memory + memory <= settings.budget) {
      ready.remove(cell)
      used += memory - cell.memory
      Object.assign(cell, { key, memory })
      const given = lease(cell, true)
      return cell.box.limitMemory(memory).then(() => given)
    }
    if (starting >= settings.starting || !room(memory)) return undefined
    return begin(key, memory, start).then((member) => lease(member, true))
  }

  const pump = () => {
    for (let at = 0; at < waiting.length; ) {
      const waiter = waiting[at]
      const served = waiter && serve(waiter.want, performance.now() - waiter.since)
      if (waiter && served) {
        waiting.splice(at, 1)
        waiter.give(served)
        served.catch(() => undefined).then(pump)
      } else at++
    }
    fill()
  }

  /** Keep the reserves full with what no call needs. */
  const fill = () => {
    if (closed) return
    for (const { kind, count, memory, start } of reserves) {
      const there = ready.count(kind) + (filling.get(kind) ?? 0)
      if (there >= count || waiting.length > 0 || starting >= settings.starting) continue
      if (used + memory > settings.budget) continue
      filling.set(kind, (filling.get(kind) ?? 0) + 1)
      begin(kind, memory, start)
        .then((member) => {
          if (closed) end(member)
          else ready.put(member)
        })
        .catch((error: Error) => log(`a ${kind} sandbox did not start: ${error.message}`))
        .finally(() => {
          filling.set(kind, (filling.get(kind) ?? 1) - 1)
          pump()
        })
    }
  }

  const sweep = () => {
    sweeper = undefined
    const now = performance.now()
    for (const member of idle.all()) {
      if (now - member.since >= settings.idle) {
        idle.remove(member)
        end(member)
      } else if (now - member.since >= settings.pause)
        member.box.pause().catch((error: Error) => log(error.message))
    }
    if (idle.size() > 0) sweeper = setTimeout(sweep, settings.pause).unref()
  }

  return {
    take: (want) => {
      const served = waiting.length === 0 || idle.has(want.key) ? serve(want, 0) : undefined
      if (served) {
        if (want.kind !== undefined) served.catch(() => undefined).then(fill)
        return served
      }
      if (waiting.length >= settings.queue)
        return Promise.reject(
          ApiError.tooMany(
            `Too many requests: all sandboxes are busy and ${waiting.length} calls wait already.`,
            1,
          ),
        )
      return new Promise((resolve) => {
        waiting.push({ want, since: performance.now(), give: resolve })
        setTimeout(pump, patience).unref()
      })
    },
    evict: (prefix) => {
      for (const member of busy) if (member.key.startsWith(prefix)) member.doomed = true
      for (const member of idle.all())
        if (member.key.startsWith(prefix) && idle.remove(member)) end(member)
    },
    stats: () => ({
      busy: busy.size,
      idle: idle.all().length,
      ready: ready.all().length,
      queued: waiting.length,
      memory: used,
      budget: settings.budget,
    }),
    fill,
    close: async () => {
      closed = true
      clearTimeout(sweeper)
      for (const { give } of waiting.splice(0))
        give(Promise.reject(ApiError.unavailable('Functions are shutting down.')))
      for (const shelf of [idle, ready])
        for (const member of shelf.all()) {
          shelf.remove(member)
          end(member)
        }
      for (const member of busy) end(member)
      while (ending.size > 0 || starting > 0) {
        await Promise.all(ending)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}
