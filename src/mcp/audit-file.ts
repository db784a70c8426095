import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Audit } from './audit.ts'

/** Two files of this size are kept. */
const fileLimit = 10 * 1024 * 1024

/** Appends one call a line. Several processes may write to the same file. */
export const fileAudit = (path: string): Audit => {
  let file: number | undefined
  let written = 0

  const open = (): number => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const opened = openSync(path, 'a', 0o600)
    written = fstatSync(opened).size
    return opened
  }

  return {
    write: (record) => {
      file ??= open()
      written += writeSync(file, `${JSON.stringify(record)}\n`)
      if (written < fileLimit) return
      renameSync(path, path.replace(/(\.\w+)$/, '.1$1'))
      closeSync(file)
      file = undefined
    },
  }
}
