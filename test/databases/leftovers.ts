import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Processes that name a path in their command line or work in it. */
export const processesOf = (path: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return (
          pid !== process.pid && `${command} ${readlinkSync(`/proc/${pid}/cwd`)}`.includes(path)
        )
      } catch {
        return false // It ended while we looked.
      }
    })
