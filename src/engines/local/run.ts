import { type SpawnOptions, spawn } from 'node:child_process'
import { type Identity, pastBarrier } from './identity.ts'

export interface Command {
  /** Program and arguments. */
  argv: readonly string[]
  cwd?: string
  env?: Record<string, string>
  /** Run as this account; undefined: as Cove. */
  as?: Identity | undefined
}

const environment = (command: Command): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  LC_ALL: 'C.UTF-8',
  ...command.env,
})

/** What to start, and how, so that it runs as its account. */
export const spawnOf = (
  command: Command,
): { program: string; args: string[]; options: SpawnOptions } => {
  const wrapped = command.as && pastBarrier(command.as, command.argv, command.cwd)
  const [program = '', ...args] = wrapped ?? command.argv
  return {
    program,
    args,
    options: {
      env: environment(command),
      ...(wrapped || command.cwd === undefined ? {} : { cwd: command.cwd }),
      ...(command.as && !wrapped ? { uid: command.as.uid, gid: command.as.gid } : {}),
    },
  }
}

/** Run a program to its end; what it printed, or an error with the last line it complained with. */
export const run = (
  command: Command & { input?: string; signal?: AbortSignal; timeoutMs?: number },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const { program, args, options } = spawnOf(command)
    const child = spawn(program, args, {
      ...options,
      ...(command.signal ? { signal: command.signal } : {}),
      timeout: command.timeoutMs ?? 600_000,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let out = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-4000)
    })
    // A program that ends before it has read its input is judged by its exit status.
    child.stdin.on('error', () => undefined)
    child.stdin.end(command.input ?? '')
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out)
      else {
        const lines = complaint.trim().split('\n')
        const named = lines.filter((line) => /error|exception|fatal/i.test(line))
        const why = (named.at(-1) ?? lines.slice(-3).join(' ')).trim()
        reject(
          new Error(`${command.argv[0]?.split('/').at(-1)} ended with ${signal ?? code}: ${why}`),
        )
      }
    })
  })
