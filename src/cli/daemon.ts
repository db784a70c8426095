import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtFile } from '#core/built.ts'
import { prepareHome } from './home.ts'
import { UsageError } from './values.ts'

/** What a running Cove writes down so that others find it. */
export interface DaemonFacts {
  url: string
  pid: number
  version: string
}

const factsPath = (home: string) => join(home, 'daemon.json')
export const logPath = (home: string) => join(home, 'cove.log')

/**
 * One Cove for one home: the kernel holds the name as long as the process lives and frees it however
 * the process ends, so no stale lock can be left.
 */
export const lockHome = (home: string): Promise<Server> => {
  const name = createHash('sha256').update(realpathSync(home)).digest('hex')
  const lock = createServer()
  lock.unref()
  return new Promise((resolve, reject) => {
    lock.once('error', () => {
      const running = readFacts(home)
      const where = running ? ` at ${running.url} (pid ${running.pid})` : ''
      reject(
        new UsageError(`A Cove is already running on ${home}${where}. Stop it with "cove down".`),
      )
    })
    lock.listen(`\0cove-${name}`, () => resolve(lock))
  })
}

export const writeFacts = (home: string, facts: DaemonFacts): void =>
  writeFileSync(factsPath(home), `${JSON.stringify(facts)}\n`, { mode: 0o600 })

export const removeFacts = (home: string): void => rmSync(factsPath(home), { force: true })

const readFacts = (home: string): DaemonFacts | undefined => {
  try {
    return JSON.parse(readFileSync(factsPath(home), 'utf8'))
  } catch {
    return undefined // None was written, or one is being written just now.
  }
}

/** The Cove that runs on this home and answers, or undefined. */
export const findDaemon = async (home: string): Promise<DaemonFacts | undefined> => {
  const facts = readFacts(home)
  return facts && (await answers(`${facts.url}/readyz`)) ? facts : undefined
}

/** Asked with `node:http`: it is smaller than `fetch`, and an idle tool server needs no more. */
const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const request = get(url, { timeout: 2000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })

/** ms to wait for a Cove to come up. */
const patience = 60_000

/** The running Cove, started in the background where there is none. */
export const ensureDaemon = async (home: string, env: NodeJS.ProcessEnv): Promise<DaemonFacts> => {
  const running = await findDaemon(home)
  if (running) return running
  if (!existsSync(builtFile('cli.js'))) {
    throw new UsageError(
      'No Cove is running here. Start one ("npm start" in its folder), or give an API URL and a token.',
    )
  }
  prepareHome(home)
  const child = startDetached(home, env)
  const deadline = Date.now() + patience
  while (Date.now() < deadline) {
    const facts = await findDaemon(home)
    if (facts) return facts
    // Another process may have won the lock; ours then ends, and theirs is found.
    if (child.exitCode !== null && child.exitCode !== 0 && child.exitCode !== lockedStatus) break
    await sleep(50)
  }
  throw new UsageError(`Cove did not start; ${logPath(home)} says why: ${lastLine(logPath(home))}`)
}

/** Exit status of `cove up` where another Cove holds the home. */
export const lockedStatus = 3

const startDetached = (home: string, env: NodeJS.ProcessEnv): ChildProcess => {
  const log = openSync(logPath(home), 'a', 0o600)
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'up', '--any-port'], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...env, COVE_HOME: home },
  })
  child.unref()
  return child
}

const lastLine = (path: string): string =>
  readFileSync(path, 'utf8').trim().split('\n').at(-1) ?? 'nothing'
