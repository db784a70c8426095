import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { adopt, alive, type ProcessMark, start, stop } from './process.ts'
import type { Command } from './run.ts'

/** A server to keep running. */
export interface Server {
  command(): Promise<Command>
  log: string
  mark: string
  stopSignal: NodeJS.Signals
  graceMs: number
  /** Resolves once it answers; called again and again until it does. */
  ready(): Promise<void>
  /** It could not be brought back: whether somebody else took over its work. */
  lost?(): Promise<boolean>
}

interface Entry {
  server: Server
  mark: ProcessMark | undefined
  /** Failures in a row. */
  failures: number
  restarts: number
  problem: string | undefined
  nextTry: number
  busy: boolean
  readyAt: number
}

const pollMs = 250
const startWithinMs = 90_000
const steadyAfterMs = 30_000
const backOff = (failures: number) => Math.min(30_000, 250 * 2 ** failures)

export type Supervisor = ReturnType<typeof createSupervisor>

/** Keeps servers running: adopts those an earlier Cove started, restarts those that crash. */
export const createSupervisor = ({ log }: { log(message: string): void }) => {
  const entries = new Map<string, Entry>()

  const bring = async (key: string, entry: Entry) => {
    const { server } = entry
    entry.mark = (await adopt(server.mark)) ?? (await start(await server.command(), server))
    const deadline = Date.now() + startWithinMs
    for (;;) {
      const problem = await server.ready().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (problem === undefined) break
      if (!alive(entry.mark))
        throw new Error(`The server ended while starting: ${await lastLine(server.log)}`)
      if (Date.now() > deadline) throw new Error(`The server did not answer in time: ${problem}`)
      await sleep(20)
    }
    entry.readyAt = Date.now()
    entry.problem = undefined
    log(`${key} is up as process ${entry.mark.pid}`)
  }

  const revive = async (key: string, entry: Entry) => {
    entry.busy = true
    entry.restarts += 1
    try {
      await bring(key, entry)
      entry.failures = 0
    } catch (error) {
      entry.failures += 1
      entry.problem = error instanceof Error ? error.message : String(error)
      entry.nextTry = Date.now() + backOff(entry.failures)
      log(`${key} did not come back (${entry.failures}): ${entry.problem}`)
      if (entry.failures === 2 && (await entry.server.lost?.())) entries.delete(key)
    } finally {
      entry.busy = false
    }
  }

  const look = () => {
    const now = Date.now()
    for (const [key, entry] of entries) {
      if (entry.busy || (entry.mark && alive(entry.mark)) || now < entry.nextTry) continue
      // One that dies again right after its start waits; one that ran steadily comes back at once.
      if (entry.readyAt > 0 && now - entry.readyAt < steadyAfterMs && entry.restarts > 2)
        entry.nextTry = Math.max(entry.nextTry, entry.readyAt + backOff(entry.restarts))
      if (now < entry.nextTry) continue
      log(`${key} ended; starting it again`)
      void revive(key, entry)
    }
  }
  const timer = setInterval(look, pollMs)
  timer.unref()

  return {
    /** Running and answering when it resolves. */
    up: async (key: string, server: Server): Promise<void> => {
      const known = entries.get(key)
      if (known?.mark && alive(known.mark) && !known.busy) {
        known.server = server
        return
      }
      const entry: Entry = known ?? {
        server,
        mark: undefined,
        failures: 0,
        restarts: 0,
        problem: undefined,
        nextTry: 0,
        busy: true,
        readyAt: 0,
      }
      entry.server = server
      while (known?.busy) await sleep(20)
      entry.busy = true
      entries.set(key, entry)
      try {
        await bring(key, entry)
      } catch (error) {
        entries.delete(key)
        if (entry.mark) await end(server, entry.mark)
        throw error
      } finally {
        entry.busy = false
      }
    },
    /** Stopped, and not started again. Also ends one that an earlier Cove left behind. */
    down: async (key: string, server: Pick<Server, 'mark' | 'stopSignal' | 'graceMs'>) => {
      const entry = entries.get(key)
      entries.delete(key)
      while (entry?.busy) await sleep(20)
      const mark = entry?.mark ?? (await adopt(server.mark))
      if (mark) await end(server, mark)
    },
    state: (key: string) => {
      const entry = entries.get(key)
      if (!entry) return undefined
      const running = entry.mark !== undefined && alive(entry.mark) && !entry.busy
      return {
        running,
        pid: entry.mark?.pid,
        restarts: entry.restarts,
        problem: running ? undefined : entry.problem,
      }
    },
    /** Stop watching, and end every server in order. */
    close: async () => {
      clearInterval(timer)
      const running = [...entries.values()]
      entries.clear()
      await Promise.all(
        running.map(async ({ server, mark }) => {
          if (mark) await end(server, mark)
        }),
      )
    },
  }
}

const end = (server: Pick<Server, 'mark' | 'stopSignal' | 'graceMs'>, mark: ProcessMark) =>
  stop(mark, { signal: server.stopSignal, graceMs: server.graceMs, markFile: server.mark })

/** What a server complained with, read from the end of its log. */
const lastLine = async (file: string): Promise<string> => {
  const lines = await tail(file, 20)
  return (
    lines.filter((line) => /error|fatal|fail|cannot|could not/i.test(line)).at(-1) ??
    lines.at(-1) ??
    ''
  )
}

export const tail = async (file: string, lines: number): Promise<string[]> => {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, 64 * 1024)
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines)
  } finally {
    await handle.close()
  }
}
