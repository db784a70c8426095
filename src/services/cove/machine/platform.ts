import { statfs } from 'node:fs/promises'
import { cpus, freemem, loadavg, totalmem } from 'node:os'
import type { Service } from '#platform/service.ts'
import { machine } from './contract.ts'

export const machineService =
  (home: string): Service =>
  (on) => {
    on(machine.get, async () => {
      const { bsize, blocks, bavail } = await statfs(home)
      const [busy = 0] = loadavg()
      return {
        cpu: { used: busy, total: cpus().length },
        memory: { used: totalmem() - freemem(), total: totalmem() },
        disk: { used: (blocks - bavail) * bsize, total: blocks * bsize },
        resident: process.memoryUsage.rss(),
        uptime_seconds: Math.round(process.uptime()),
      }
    })
  }
