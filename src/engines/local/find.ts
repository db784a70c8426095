import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The folder of a program on PATH or where Debian keeps servers. */
export const findProgram = async (name: string): Promise<string | undefined> => {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  for (const folder of folders)
    if (folder && (await isProgram(join(folder, name)))) return join(folder, name)
  return undefined
}

export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

/** An answer worth keeping for the life of a driver: programs do not come and go often. */
export const remembered = <T>(ask: () => Promise<T>, forMs: number): (() => Promise<T>) => {
  let kept: { answer: Promise<T>; until: number } | undefined
  return () => {
    if (!kept || Date.now() > kept.until) kept = { answer: ask(), until: Date.now() + forMs }
    return kept.answer
  }
}
