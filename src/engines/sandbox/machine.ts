import { execFile } from 'node:child_process'
import { accessSync, constants, realpathSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Run a program of the host to its end; a failure names it and tells what it said. */
export const runProgram = async (
  file: string,
  args: string[],
  input = '',
  timeout = 10_000,
): Promise<string> => {
  const done = exec(file, args, { timeout, maxBuffer: 16 * 1024 * 1024 })
  // A program that ends before it has read everything is told by its exit.
  done.child.stdin?.on('error', () => undefined).end(input)
  const { stdout } = await done
  return stdout
}

const places = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Where a program is, its links resolved; system folders come before the caller's own PATH. */
export const findProgram = (
  name: string,
  searchPath = process.env.PATH ?? '',
): string | undefined =>
  [...places, ...searchPath.split(path.delimiter)]
    .map((dir) => path.join(dir, name))
    .filter(isExecutable)
    .map((file) => realpathSync(file))[0]

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
