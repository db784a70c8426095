import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { Identity } from './identity.ts'
import { run } from './run.ts'

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** A folder only its owner enters. */
export const privateFolder = async (path: string, owner: Identity | undefined): Promise<void> => {
  await mkdir(path, { recursive: true })
  await chmod(path, 0o700)
  if (owner) await chown(path, owner.uid, owner.gid)
}

/** A folder anybody may pass through, and nobody list. */
export const passage = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true })
  await chmod(path, 0o711)
}

/** Replaced at once: a reader sees the old or the new file, never half of one. */
export const writeWhole = async (
  path: string,
  text: string,
  owner?: Identity | undefined,
): Promise<void> => {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  if (owner) await chown(`${path}.new`, owner.uid, owner.gid)
  await rename(`${path}.new`, path)
}

export const readJson = async <T>(path: string): Promise<T | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

/** A copy that shares blocks where the file system can; `to` must not exist. */
export const copyTree = async (from: string, to: string): Promise<void> => {
  await run({ argv: ['cp', '-a', '--reflink=auto', '--sparse=auto', from, to] })
}

/** A tree appears whole under its name, or not at all. */
export const appear = async (path: string, make: (staging: string) => Promise<void>) => {
  const staging = `${path}.new`
  await rm(staging, { recursive: true, force: true })
  await make(staging)
  await rename(staging, path)
}

export const treeBytes = async (path: string): Promise<number> =>
  Number((await run({ argv: ['du', '-s', '--block-size=1', path] })).split('\t')[0])
