import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectFile } from '#core/built.ts'

export const launcher = projectFile('bin/cove.cjs')

/** An environment in which nobody's own settings leak into a test. */
export const cleanEnv = (home: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  COVE_HOME: home,
  COVE_RATE_LIMIT: 'off',
  ...more,
})

export const newHome = (): string => mkdtempSync(join(tmpdir(), 'cove-home-'))

export interface Finished {
  status: number | null
  out: string
  err: string
}

/** Runs `cove …` as a person would. */
export const cove = async (
  home: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Finished> => {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: cleanEnv(home, more),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (err += data))
  const [status] = await once(child, 'close')
  return { status, out, err }
}

export interface Running {
  home: string
  url: string
  token: string
  child: ChildProcess
  /** kill -9; the home stays. */
  kill(): Promise<void>
  /** A clean stop, and the home goes. */
  stop(): Promise<void>
}

/** A Cove as `cove up` runs it, on a port of its own. */
export const startCove = async (
  home: string = newHome(),
  args: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
): Promise<Running> => {
  const child = spawn(process.execPath, [launcher, 'up', '--port', '0', ...args], {
    env: cleanEnv(home, more),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (data: Buffer) => {
      said += data
      const found = /running at (\S+)/.exec(said)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', (status) => reject(new Error(`cove up ended with ${status}: ${said}`)))
  })
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  return {
    home,
    url,
    token: more.COVE_TOKEN ?? readFileSync(join(home, 'token'), 'utf8').trim(),
    child,
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
