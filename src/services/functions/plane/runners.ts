import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { storedRunners } from '../activations/records.ts'
import type { Ground } from './ground.ts'

/** The processes that run calls: which of them still live. */
export interface Runners {
  /** This process. */
  own: string
  beat(): Promise<void>
  isAlive(id: string): Promise<boolean>
}

/** ms after which a process of another host that was not seen counts as gone. */
const patience = 30_000
export const beatEvery = 5_000

/** When a process started, in the kernel's ticks: with its id it names a process for good. */
const startOf = (pid: string | number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined // No such process, or a system without /proc: then the beats decide.
  }
}

export const createRunners = ({ store, clock, ids }: Ground): Runners => {
  const table = store.collection(storedRunners)
  const host = hostname()
  const own = [host, process.pid, startOf(process.pid) ?? '', ids.uuid()].join('|')
  return {
    own,
    beat: async () => {
      await table.put({ id: own, seen: clock.now() })
    },
    isAlive: async (id) => {
      if (id === own) return true
      const [at, pid = '', start = ''] = id.split('|')
      if (at === host && startOf(pid) !== (start || undefined)) return false
      const runner = await table.get(id)
      return runner !== undefined && clock.now() - runner.seen < patience
    },
  }
}
