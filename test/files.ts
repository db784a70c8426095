import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFile } from '#core/built.ts'

export interface SourceFile {
  /** From the root of the project: `src/core/error.ts`. */
  path: string
  text: string
}

/** The source files below a folder of the project. */
export const sourceFiles = (folder: string): SourceFile[] =>
  readdirSync(projectFile(folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path))
    .map((path) => ({ path, text: readFileSync(projectFile(path), 'utf8') }))
