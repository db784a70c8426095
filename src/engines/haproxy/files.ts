import { createHash } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stateFile } from './config.ts'
import { generationFile, type Places } from './parts.ts'

/** Keys and sockets live in memory, never on a disk; the name tells whose they are. */
export const runtimeFolder = (home: string): string => {
  const name = `cove-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`
  try {
    accessSync('/dev/shm', constants.W_OK)
    return join('/dev/shm', name)
  } catch {
    return join(tmpdir(), name) // a machine without shared memory
  }
}

/** Folders and files that HAProxy expects to find. */
export const prepare = async (places: Places, logFile: string): Promise<void> => {
  await mkdir(join(places.runtime, 'certificates'), { recursive: true, mode: 0o700 })
  await mkdir(places.home, { recursive: true, mode: 0o700 })
  await chmod(places.runtime, 0o700)
  await writeFile(generationFile(places), '', { flag: 'a' })
  await writeFile(stateFile(places), '', { flag: 'a' })
  await writeFile(logFile, '', { mode: 0o600 })
}

/** Whole or not at all: written beside and renamed. */
export const write = async (file: string, text: string): Promise<void> => {
  const draft = `${file}.draft`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, file)
}
