import { opendir, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { ApiError } from '#core/error.ts'
import type { SourceFile } from './sync.ts'

/** Folders of tools, not of documents. */
const left = new Set(['node_modules', '__pycache__', 'venv', 'dist', 'build', 'target'])

/** The files of a folder and of all below it, or the one file; hidden ones are left out. */
export const listFiles = async (path: string): Promise<SourceFile[]> => {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw ApiError.invalid(
      cause.code === 'ENOENT'
        ? `${path} does not exist.`
        : `${path} cannot be read (${cause.code}).`,
    )
  })
  if (!found.isDirectory())
    return [{ path: basename(path), file: path, bytes: found.size, modified: found.mtime }]
  const files: SourceFile[] = []
  await walk(path, path, files)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

const walk = async (root: string, folder: string, files: SourceFile[]): Promise<void> => {
  for await (const entry of await opendir(folder)) {
    const file = join(folder, entry.name)
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) {
      if (!left.has(entry.name)) await walk(root, file, files)
    } else if (entry.isFile()) {
      const { size, mtime } = await stat(file)
      files.push({
        path: relative(root, file).split(sep).join('/'),
        file,
        bytes: size,
        modified: mtime,
      })
    }
  }
}
