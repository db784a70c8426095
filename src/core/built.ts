import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = here.replace(/\/(dist(\/\w+)?|src\/core)$/, '')

/** A file that the build makes, such as the code of a worker thread. */
export const builtFile = (name: string): string => join(root, 'dist', name)

/** A file that comes with the project. */
export const projectFile = (path: string): string => join(root, path)
