import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, spawnOf } from './run.ts'

/** A server that outlives Cove: found again by its pid and the tick it started at. */
export interface ProcessMark {
  pid: number
  started: string
}

/** Start a server in a session of its own, its output appended to a file. */
export const start = async (
  command: Command,
  files: { log: string; mark: string },
): Promise<ProcessMark> => {
  const log = await open(files.log, 'a', 0o600)
  const { program, args, options } = spawnOf(command)
  const child = spawn(program, args, {
    ...options,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const spawned = new Promise<void>((resolve) => child.once('spawn', resolve))
  await Promise.race([spawned, failed]).finally(() => log.close())
  child.unref()
  const pid = child.pid ?? 0
  const mark = { pid, started: stat(pid)?.started ?? '' }
  await writeFile(`${files.mark}.new`, JSON.stringify(mark))
  await rename(`${files.mark}.new`, files.mark)
  return mark
}

/** The mark an earlier start left, if that very process still runs. */
export const adopt = async (file: string): Promise<ProcessMark | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const mark = JSON.parse(text) as ProcessMark
  return alive(mark) ? mark : undefined
}

/** A zombie is dead; another process that got the same pid is another process. */
export const alive = (mark: ProcessMark): boolean => {
  const found = stat(mark.pid)
  return found !== undefined && found.state !== 'Z' && found.started === mark.started
}

/** Ask it to end; when it does not, end it and its whole session. */
export const stop = async (
  mark: ProcessMark,
  { signal, graceMs, markFile }: { signal: NodeJS.Signals; graceMs: number; markFile: string },
): Promise<void> => {
  if (alive(mark)) process.kill(mark.pid, signal)
  for (let waited = 0; alive(mark) && waited < graceMs; waited += 10) await sleep(10)
  if (alive(mark)) killGroup(mark.pid)
  while (alive(mark) || sessionOf(mark.pid).length > 0) {
    killGroup(mark.pid)
    await sleep(10)
  }
  await rm(markFile, { force: true })
}

const killGroup = (pid: number) => {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Living members of the session that `pid` leads. */
export const sessionOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      const found = stat(id)
      return found !== undefined && found.session === pid && found.state !== 'Z'
    })

/** CPU and memory of a server and all it started. */
export const usage = (pid: number): { cpuSeconds: number; memoryBytes: number } =>
  sessionOf(pid).reduce(
    (sum, id) => {
      const found = stat(id)
      return {
        cpuSeconds: sum.cpuSeconds + (found?.ticks ?? 0) / 100,
        memoryBytes: sum.memoryBytes + (found?.residentPages ?? 0) * 4096,
      }
    },
    { cpuSeconds: 0, memoryBytes: 0 },
  )

const stat = (pid: number) => {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // No such process: that is the answer.
    return undefined
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    state: fields[0] ?? '',
    session: Number(fields[3]),
    ticks: Number(fields[11]) + Number(fields[12]),
    started: fields[19] ?? '',
    residentPages: Number(fields[21]),
  }
}
