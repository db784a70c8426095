import { readFile } from 'node:fs/promises'

/** What a file holds, or undefined where there is none. One that cannot be read must not be replaced. */
export const readKept = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
