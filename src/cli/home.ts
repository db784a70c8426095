import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from './values.ts'

/** Makes COVE_HOME, for nobody else's eyes. */
export const prepareHome = (home: string): void => {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    chmodSync(home, 0o700)
  } catch (error) {
    throw new UsageError(`${home} cannot be used as COVE_HOME: ${(error as Error).message}`)
  }
}

/** The owner's token: as set, or made once and kept. */
export const ownerToken = (home: string, given: string | undefined): string => {
  if (given !== undefined) {
    if (/^\S{8,}$/.test(given)) return given
    throw new UsageError('COVE_TOKEN must have at least 8 characters and no spaces.')
  }
  const path = join(home, 'token')
  const kept = readToken(path)
  if (kept) return kept
  try {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, `cove_v1_${randomBytes(32).toString('hex')}\n`)
    closeSync(file)
  } catch (error) {
    // Another process may have made it at the same moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new UsageError(`${path} cannot be written: ${(error as Error).message}`)
    }
  }
  const token = readToken(path)
  if (!token) throw new UsageError(`${path} is empty; remove it and start again.`)
  return token
}

const readToken = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
  }
}
