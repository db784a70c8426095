import type { Readable } from 'node:stream'
import type { Launched } from './launch.ts'

/** What came back for one line sent into a sandbox. */
export interface Exchange {
  kind: 'answer' | 'timeout' | 'memory' | 'exit' | 'size'
  /** The line, for an answer. */
  text: string
  /** Bytes of the line. */
  size: number
  logs: string[]
  logsCut: boolean
}

export interface ExchangeLimits {
  timeout: number
  logBytes: number
  answerBytes: number
}

/** A running sandbox that takes a line and answers a line. */
export interface Box {
  /** Send a line and wait for the answer; without a line, for the greeting of a program. */
  exchange(line: string | undefined, limits: ExchangeLimits): Promise<Exchange>
  /** False once it died or said something unasked. */
  usable(): boolean
  /** Stop every process of it until the next exchange: nothing outlives a call. */
  pause(): Promise<void>
  resume(): void
  limitMemory(megabytes: number): Promise<void>
  kill(): Promise<void>
  /** What it said before its first exchange. */
  said(): string
  /** Called once when it ends by itself. */
  onExit(work: () => void): void
}

interface Call {
  limits: ExchangeLimits
  logs: string[]
  logBytes: number
  logsCut: boolean
  /** Its logs are still awaited; whatever else it says was not asked for. */
  answered: boolean
  end: (kind: Exchange['kind'], text?: string, size?: number) => void
}

const newline = 10
type Stream = 'stdout' | 'stderr'

/** `greets`: it says that it is there before anything is asked of it. */
export const boxOf = (launched: Launched, greets = false): Box => {
  let greeting: Buffer | undefined
  let call: Call | undefined
  let usable = true
  let paused = false
  let stopped: number[] = []
  let parts: Buffer[] = []
  let size = 0
  /** Grows with every byte that arrives, so that one can tell when the streams are quiet. */
  let arrived = 0

  const take = (chunk: Buffer) => {
    arrived += chunk.length
    if (!call || call.answered) {
      if (greets && !greeting && !call) greeting = chunk
      else usable = false
      return
    }
    const at = chunk.indexOf(newline)
    const piece = at < 0 ? chunk : chunk.subarray(0, at)
    size += piece.length
    if (size <= call.limits.answerBytes) parts.push(piece)
    else parts = []
    if (at < 0) return
    if (at !== chunk.length - 1) usable = false
    const text = parts.length === 1 ? piece.toString() : Buffer.concat(parts).toString()
    const bytes = size
    parts = []
    size = 0
    call.end(bytes > call.limits.answerBytes ? 'size' : 'answer', text, bytes)
  }

  const early: [stream: Stream, text: string][] = []
  const lines: Partial<Record<Stream, (text: string) => void>> = {}
  let called = false

  const logger = (stream: Readable, name: Stream) => {
    let rest = ''
    const line = (text: string) => {
      // What a sandbox says while it starts belongs to its first call.
      if (!call && !called && early.length < 100) early.push([name, text])
      if (!call || call.logsCut || text === sentinel) return
      call.logBytes += Buffer.byteLength(text) + 1
      if (call.logBytes > call.limits.logBytes) {
        call.logsCut = true
        return
      }
      call.logs.push(`${new Date().toISOString().padEnd(30)} ${name}: ${text}`)
    }
    lines[name] = line
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      arrived += text.length
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      // A line without an end must not grow beyond what is kept anyway.
      if (rest.length > 65_536) lines.push(rest.slice(0, 65_536))
      if (rest.length > 65_536) rest = ''
      for (const each of lines) line(each)
    })
    return () => {
      if (rest) line(rest)
      rest = ''
    }
  }
  const flushes = [logger(launched.stdout, 'stdout'), logger(launched.stderr, 'stderr')]
  launched.answers.on('data', take)

  /**
   * What a process wrote before its answer is in the kernel's buffers when the answer is read, so
   * one quiet turn of the event loop means that all of its logs are here.
   */
  const settleLogs = async () => {
    for (let seen = -1; seen !== arrived; ) {
      seen = arrived
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const flush of flushes) flush()
  }

  const exits: (() => void)[] = []
  launched.child.once('close', async () => {
    usable = false
    const ended = call
    if (ended) ended.end((await launched.outOfMemory()) ? 'memory' : 'exit')
    for (const work of exits) work()
  })

  return {
    exchange: (line, limits) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => current.end('timeout'), limits.timeout)
        const current: Call = {
          limits,
          logs: [],
          logBytes: 0,
          logsCut: false,
          answered: false,
          end: async (kind, text = '', bytes = 0) => {
            clearTimeout(timer)
            current.answered = true
            current.end = () => undefined
            if (kind !== 'answer') usable = false
            await settleLogs()
            call = undefined
            const { logs, logsCut } = current
            if (logsCut) usable = false
            resolve({ kind, text, size: bytes, logs, logsCut })
          },
        }
        call = current
        called = true
        for (const [name, text] of early.splice(0)) lines[name]?.(text)
        if (!usable) current.end('exit')
        else if (line !== undefined) launched.input.write(`${line}\n`)
        else if (greeting) take(greeting)
      }),
    usable: () => usable,
    pause: async () => {
      if (paused) return
      paused = true
      // Again until a pass finds no one new: a process may fork while the others are stopped.
      for (let before = -1; before !== stopped.length; ) {
        before = stopped.length
        const pids = (await launched.group?.pids()) ?? []
        if (!paused) return
        stopped = pids
        for (const pid of pids) signal(pid, 'SIGSTOP')
      }
    },
    resume: () => {
      paused = false
      for (const pid of stopped) signal(pid, 'SIGCONT')
      stopped = []
    },
    limitMemory: async (memory) => launched.group?.limit({ memory }),
    kill: launched.kill,
    said: () => early.map(([, text]) => text).join('\n'),
    onExit: (work) => exits.push(work),
  }
}

/** What images of other platforms print after each call. */
const sentinel = 'XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX'

const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
