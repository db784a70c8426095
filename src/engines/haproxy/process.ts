import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { command, processes } from './runtime.ts'

export interface ProcessOptions {
  program: string
  config: string
  /** Socket of the master process. */
  master: string
  /** Socket of the worker: the runtime API. */
  runtime: string
  logFile: string
  log: (message: string) => void
}

/** The HAProxy process of this home: started, watched, reloaded without losing a connection. */
export const createProcess = (options: ProcessOptions) => {
  let child: ChildProcess | undefined
  let pid = 0
  let wanted = false
  let watch: NodeJS.Timeout | undefined

  const isUp = async (): Promise<boolean> => {
    try {
      const found = await processes(options.master)
      const info = await command(options.runtime, 'show info', 1_000)
      // The worker of a master that was killed may answer a moment longer.
      const worker = Number(/^Pid: (\d+)/m.exec(info)?.[1])
      return found.master === pid && found.workers.some((one) => one.pid === worker)
    } catch {
      return false // nobody listens: it is not up
    }
  }

  const launch = async (): Promise<void> => {
    const output = openSync(options.logFile, 'a', 0o600)
    const before = await sizeOf(options.logFile)
    // A group of its own: it outlives this process, which finds and adopts it at the next start.
    child = spawn(
      options.program,
      ['-W', '-S', `${options.master},mode,600`, '-f', options.config],
      {
        stdio: ['ignore', output, output],
        detached: true,
      },
    )
    closeSync(output)
    pid = child.pid ?? 0
    let ended = false
    child.once('error', () => {
      ended = true
    })
    child.once('exit', () => {
      ended = true
    })
    for (let waited = 0; waited < 10_000 && !ended; waited += 20) {
      if (await isUp()) return
      await pause(20)
    }
    throw new Error(`HAProxy did not start: ${await complaint(options.logFile, before)}`)
  }

  const alive = (): boolean => pid > 0 && isAlive(pid)

  const supervise = (): void => {
    clearInterval(watch)
    watch = setInterval(() => {
      if (!wanted || alive()) return
      clearInterval(watch)
      options.log('HAProxy ended; it is started again.')
      launch()
        .catch((error) => options.log(String(error)))
        .finally(() => wanted && supervise())
    }, 100)
    watch.unref()
  }

  return {
    alive,
    /** Whether one that an earlier process of this home left behind still serves. */
    leftBehind: async (): Promise<boolean> => (await leftBehind(options)) > 0,
    /** Start, or adopt the one that an earlier process of this home left behind. */
    async start(): Promise<void> {
      wanted = true
      pid = await leftBehind(options)
      if (pid > 0) await reload(options, pid)
      else await launch()
      supervise()
    },
    /** It may be in the middle of being started again. */
    async untilAlive(): Promise<void> {
      for (let waited = 0; waited < 5_000 && !(await isUp()); waited += 50) await pause(50)
    },
    reload: () => reload(options, pid),
    async stop(): Promise<void> {
      wanted = false
      clearInterval(watch)
      if (alive()) await end(pid)
      pid = 0
    },
  }
}

/** What is wrong with a configuration, or undefined. */
export const faultOf = (program: string, config: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(program, ['-c', '-f', config], { timeout: 30_000 }, (error, _out, said) =>
      resolve(error ? alerts(said) || error.message : undefined),
    )
  })

const reload = async (options: ProcessOptions, pid: number): Promise<void> => {
  const before = new Set((await processes(options.master)).workers.map((worker) => worker.pid))
  const logged = await sizeOf(options.logFile)
  process.kill(pid, 'SIGUSR2')
  for (let turn = 1; turn < 1_000; turn++) {
    await pause(10)
    const now = await processes(options.master).catch(() => undefined) // it is executing itself anew
    if (now?.workers.some((worker) => !worker.old && !before.has(worker.pid))) return
    if (!isAlive(pid)) break
    if (turn % 5 === 0 && (await said(options.logFile, logged)).includes(gaveUp)) break
  }
  throw new Error(
    `HAProxy kept its former configuration: ${await complaint(options.logFile, logged)}`,
  )
}

/** What a master logs that could not take its new configuration. */
const gaveUp = 'Loading failure!'

/** The master that serves our configuration file, or 0. */
const leftBehind = async (options: ProcessOptions): Promise<number> => {
  const found = await processes(options.master).catch(() => ({ master: 0 }))
  const ours = found.master > 0 && (await isOurs(found.master, options.config))
  return ours ? found.master : 0
}

const isOurs = async (pid: number, config: string): Promise<boolean> => {
  const line = await readFile(join('/proc', String(pid), 'cmdline'), 'utf8').catch(() => '')
  return line.split('\0').includes(config)
}

/** A process that ended but was not waited for by its parent does not count. */
const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false // there is no such process
  }
}

const end = async (pid: number): Promise<void> => {
  process.kill(pid, 'SIGTERM')
  for (let waited = 0; waited < 5_000; waited += 20) {
    if (!isAlive(pid)) return
    await pause(20)
  }
  process.kill(pid, 'SIGKILL')
}

const sizeOf = async (file: string): Promise<number> => (await stat(file)).size

/** What was logged behind a place; only that is read, since a log may be long. */
const said = async (logFile: string, from: number): Promise<string> => {
  const file = await open(logFile)
  try {
    const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - from))
    await file.read(bytes, 0, bytes.length, from)
    return bytes.toString()
  } finally {
    await file.close()
  }
}

const complaint = async (logFile: string, from: number): Promise<string> => {
  const text = await said(logFile, from)
  return alerts(text) || text.trim().slice(-500)
}

/** The lines that say what is wrong, without their time and process. */
const alerts = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.includes('[ALERT]'))
    .map((line) => line.replace(/^.*?\[ALERT\]\s+\(\d+\)\s*:\s*/, ''))
    .filter((line) => !/^(config : )?(Error|Fatal errors) found in/.test(line))
    .join(' ')
