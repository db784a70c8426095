import type { Worker } from 'node:worker_threads'
import type { Confirmation, Order } from './dns.worker.ts'
import { defaultRateLimit, type RateLimit } from './limit.ts'
import type { ListenOptions } from './listen.ts'
import { defaultTcpLimits, type TcpLimits } from './tcp.ts'
import type { NameChange, Zone } from './zone.ts'

export interface DnsOptions {
  host: string
  /** Tried in order; 0 is any free port. */
  ports: number[]
  /** All zones there should be, asked for at each start of the thread. */
  load: () => Promise<Zone[]>
  startThread: (options: ListenOptions) => Worker | Promise<Worker>
  log: (message: string) => void
  rateLimit?: RateLimit
  tcp?: TcpLimits
}

/** The authoritative DNS server. A change is answered from the moment its promise resolves. */
export interface DnsServer {
  readonly host: string
  readonly port: number
  put(zone: Zone): Promise<void>
  change(change: NameChange): Promise<void>
  remove(zone: string): Promise<void>
  /** Questions answered since the thread started. */
  answered(): Promise<number>
  close(): Promise<void>
}

/** A thread that just failed is started again after this many ms. */
const pause = 50
/** Zones in one message: large enough to be quick, small enough not to block the sender. */
const batch = 500

type Wish = Order extends infer O ? (O extends { id: number } ? Omit<O, 'id'> : never) : never

export const startDnsServer = async (options: DnsOptions): Promise<DnsServer> => {
  let closed = false
  let port = 0
  let thread: Thread | undefined
  let ready: Promise<Thread>

  const begin = async (): Promise<Thread> => {
    const ports = port === 0 ? options.ports : [port]
    const started = talkTo(
      await options.startThread({
        host: options.host,
        ports,
        rateLimit: options.rateLimit ?? defaultRateLimit,
        tcp: options.tcp ?? defaultTcpLimits,
      }),
    )
    thread = started
    started.ended.then((reason) => {
      if (closed || thread !== started) return
      options.log(`The DNS thread ended (${reason}); it is started again.`)
      ready = restart()
    })
    const zones = await options.load()
    for (let at = 0; at < zones.length; at += batch) {
      await started.tell({ kind: 'put', zones: zones.slice(at, at + batch) })
    }
    port = await started.tell({ kind: 'listen' })
    return started
  }

  const restart = async (): Promise<Thread> => {
    await new Promise((resolve) => setTimeout(resolve, pause))
    try {
      return await begin()
    } catch (error) {
      await thread?.stop()
      if (closed) throw error
      return restart()
    }
  }

  /** What was written before the thread ended is in the store, and so comes back with `load`. */
  const tell = async (wish: Wish): Promise<number> => {
    const current = await ready
    try {
      return await current.tell(wish)
    } catch (error) {
      if (closed || !current.hasEnded()) throw error
      await current.ended
      return (await ready).tell(wish)
    }
  }

  ready = begin()
  await ready
  return {
    host: options.host,
    get port() {
      return port
    },
    put: async (zone) => void (await tell({ kind: 'put', zones: [zone] })),
    change: async (change) => void (await tell({ kind: 'change', change })),
    remove: async (zone) => void (await tell({ kind: 'remove', zone })),
    answered: () => tell({ kind: 'count' }),
    close: async () => {
      closed = true
      await thread?.stop()
    },
  }
}

type Thread = ReturnType<typeof talkTo>

/** Orders to a thread as promises. */
const talkTo = (worker: Worker) => {
  let next = 1
  let over: string | undefined
  const open = new Map<
    number,
    { resolve: (value: number) => void; reject: (error: Error) => void }
  >()
  worker.on('message', ({ id, value, problem }: Confirmation) => {
    const order = open.get(id)
    open.delete(id)
    if (problem === undefined) order?.resolve(value ?? 0)
    else order?.reject(new Error(`The DNS server: ${problem}`))
  })
  const ended = new Promise<string>((resolve) => {
    const end = (reason: string): void => {
      over ??= reason
      for (const order of open.values()) order.reject(new Error(`The DNS thread ended: ${over}`))
      open.clear()
      resolve(over)
    }
    worker.on('error', (error) => end(error.message))
    worker.on('exit', (code) => end(`exit ${code}`))
  })
  return {
    ended,
    hasEnded: () => over !== undefined,
    tell: (wish: Wish): Promise<number> =>
      new Promise((resolve, reject) => {
        if (over !== undefined) return reject(new Error(`The DNS thread ended: ${over}`))
        const id = next++
        open.set(id, { resolve, reject })
        worker.postMessage({ ...wish, id })
      }),
    stop: async () => void (await worker.terminate()),
  }
}
