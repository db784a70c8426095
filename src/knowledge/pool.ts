import { Worker } from 'node:worker_threads'
import { ApiError, messageOf } from '#core/error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Chunking, Passage } from './chunk.ts'
import type { Embedder, EmbedOptions } from './embed/embedder.ts'
import { miniLm } from './embed/minilm.ts'
import type { Metadata } from './index/index.ts'
import { Unreadable } from './parse/document.ts'

export interface WorkerSettings {
  /** Where the converted model is kept. */
  modelFolder: string
}

export type Job =
  | { kind: 'embed'; texts: readonly string[] }
  | { kind: 'read'; name: string; bytes: Uint8Array; chunking: Chunking }

/** A document read and cut up. */
export interface ReadDocument {
  title?: string
  metadata: Metadata
  passages: Passage[]
}

export type Answer = { kind: 'embed'; vectors: Float32Array[] } | ({ kind: 'read' } & ReadDocument)

interface Task {
  job: Job
  resolve(answer: Answer): void
  reject(error: Error): void
}

interface Reply {
  answer?: Answer
  failure?: { name: string; message: string }
}

interface Thread {
  worker: Worker
  /** What it was given, in order; the first is under way. */
  tasks: Task[]
  /** Ends the thread when a task takes too long, or when there was none for long. */
  cancelTimer(): void
}

export interface PoolOptions extends WorkerSettings {
  /** The built `knowledge.worker.ts`. */
  script: URL | string
  threads: number
  clock: Clock
}

/** A document that is not read by then is hopeless or hostile. */
const mostTaskMs = 120_000
/** A thread with a loaded model holds some 150 MB. */
const idleMs = 300_000
/** Texts given to a thread at a time. */
const batchSize = 3
/** A thread has its next task before it is done with one. An urgent call waits for these at most. */
const tasksAhead = 2

/** Threads that read documents and run the built-in model; started when there is work. */
export class WorkerPool {
  readonly #options: PoolOptions
  readonly #threads = new Set<Thread>()
  readonly #urgent: Task[] = []
  readonly #waiting: Task[] = []
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  async read(name: string, bytes: Uint8Array, chunking: Chunking): Promise<ReadDocument> {
    const job: Job = { kind: 'read', name, bytes, chunking }
    const answer = await this.#run(job).catch((cause: unknown) => {
      // A file on which a parser stumbles must not hold up the others.
      if (cause instanceof Unreadable || this.#closed) throw cause
      throw new Unreadable(`cannot be read (${messageOf(cause)})`, { cause })
    })
    if (answer.kind !== 'read') throw new Error('A worker gave the answer to another question.')
    return answer
  }

  async embed(texts: readonly string[], { signal, urgent }: EmbedOptions = {}) {
    const batches: Promise<Answer>[] = []
    for (let at = 0; at < texts.length; at += batchSize)
      batches.push(
        this.#run({ kind: 'embed', texts: texts.slice(at, at + batchSize) }, urgent, signal),
      )
    const answers = await Promise.all(batches)
    return answers.flatMap((answer) => (answer.kind === 'embed' ? answer.vectors : []))
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const task of [...this.#urgent.splice(0), ...this.#waiting.splice(0)])
      task.reject(stopped())
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  #run(job: Job, urgent = false, signal?: AbortSignal): Promise<Answer> {
    if (this.#closed) return Promise.reject(stopped())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const queue = urgent ? this.#urgent : this.#waiting
    const { promise, resolve, reject } = settleable<Answer>()
    const task: Task = { job, resolve, reject }
    const withdraw = () => {
      const at = queue.indexOf(task)
      if (at >= 0) queue.splice(at, 1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', withdraw)
    queue.push(task)
    this.#dispatch()
    return promise.finally(() => signal?.removeEventListener('abort', withdraw))
  }

  #dispatch() {
    for (;;) {
      const queue = this.#urgent.length ? this.#urgent : this.#waiting
      if (queue.length === 0) return
      const idle = [...this.#threads].find(({ tasks }) => tasks.length === 0) ?? this.#start()
      const thread = idle ?? [...this.#threads].find(({ tasks }) => tasks.length < tasksAhead)
      const task = thread && queue.shift()
      if (!thread || !task) return
      thread.tasks.push(task)
      thread.worker.postMessage(task.job)
      if (thread.tasks.length === 1) this.#watch(thread)
    }
  }

  /** The first task must end in time; without one the thread may end after a while. */
  #watch(thread: Thread) {
    const [task] = thread.tasks
    thread.cancelTimer()
    thread.cancelTimer = this.#options.clock.later(task ? mostTaskMs : idleMs, () => {
      task?.reject(new Unreadable(`takes longer than ${mostTaskMs / 1000} seconds to read`))
      void thread.worker.terminate()
    })
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= this.#options.threads) return undefined
    const { script, modelFolder } = this.#options
    const settings: WorkerSettings = { modelFolder }
    const thread: Thread = {
      worker: new Worker(script, { workerData: settings }),
      tasks: [],
      cancelTimer: () => undefined,
    }
    this.#threads.add(thread)
    thread.worker.unref()
    const end = (reason: Error) => {
      thread.cancelTimer()
      this.#threads.delete(thread)
      const [current, ...others] = thread.tasks.splice(0)
      current?.reject(reason)
      this.#waiting.unshift(...others)
      if (!this.#closed) this.#dispatch()
    }
    thread.worker.on('message', (reply: Reply) => this.#finish(thread, reply))
    thread.worker.on('error', (error) => end(asError(error)))
    thread.worker.on('exit', () => end(stopped()))
    return thread
  }

  #finish(thread: Thread, { answer, failure }: Reply) {
    const task = thread.tasks.shift()
    this.#watch(thread)
    if (answer) task?.resolve(answer)
    else if (failure?.name === 'Unreadable') task?.reject(new Unreadable(failure.message))
    else task?.reject(new Error(failure?.message ?? 'A worker gave no answer.'))
    this.#dispatch()
  }
}

/** A promise and what settles it. */
const settleable = <T>() => {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

const stopped = () => ApiError.unavailable('The thread that reads and embeds documents has ended.')
const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))

/** The built-in model, run by the pool's threads. */
export const builtInEmbedder = (pool: WorkerPool): Embedder => ({
  model: miniLm.model,
  width: async () => miniLm.width,
  embed: (texts, options) =>
    pool.embed(texts, options).catch((cause: unknown) => {
      throw cause instanceof ApiError || options?.signal?.aborted
        ? cause
        : ApiError.unavailable(`Embedding failed: ${messageOf(cause)}`, cause)
    }),
})
