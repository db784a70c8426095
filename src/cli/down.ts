import { setTimeout as sleep } from 'node:timers/promises'
import { command } from './command.ts'
import { findDaemon } from './daemon.ts'
import { UsageError } from './values.ts'

/** ms that a Cove gets to stop cleanly. */
const patience = 30_000

export const down = command({
  about: 'Stop the Cove that runs on this home.',
  usage: '',
  settings: [],
  examples: ['cove down'],
  run: async ({ home }, { out }) => {
    const daemon = await findDaemon(home)
    if (!daemon) {
      out(`No Cove is running on ${home}.\n`)
      return 0
    }
    process.kill(daemon.pid, 'SIGTERM')
    const deadline = Date.now() + patience
    while (isAlive(daemon.pid)) {
      if (Date.now() > deadline) {
        throw new UsageError(`Cove (pid ${daemon.pid}) did not stop within ${patience / 1000} s.`)
      }
      await sleep(50)
    }
    out('Cove has stopped.\n')
    return 0
  },
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
