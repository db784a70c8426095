import { once } from 'node:events'
import { addAbortSignal, type Readable, type Writable } from 'node:stream'
import { legacyVersions, RpcError, type ServerSpec } from '#mcp/protocol.ts'
import { type Answer, asRpcError, failure } from '#mcp/wire/answer.ts'
import { receiveAll } from '#mcp/wire/batch.ts'
import { createKernel } from '#mcp/wire/kernel.ts'
import { lineReader } from '#mcp/wire/lines.ts'
import { type Id, Malformed, parse, type RequestMessage, readMessage } from '#mcp/wire/message.ts'
import { Pending } from '#mcp/wire/pending.ts'
import type { Seal } from '#mcp/wire/seal.ts'
import { claimedVersion, negotiate, type Peer, readEnvelope } from '#mcp/wire/version.ts'

export interface StdioOptions {
  input: Readable
  output: Writable
  /** Cancels what is under way and ends the service. */
  signal?: AbortSignal
  /** The longest message in bytes. */
  limit?: number
  /** Milliseconds a person may take to answer a question. */
  patience?: number
  now?(): number
}

/** Serves one client, one message a line, until its input ends and every request is answered. */
export const serveStdio = async (spec: ServerSpec, options: StdioOptions): Promise<void> => {
  const { input, output, limit = 32 << 20, patience = 600_000, now = Date.now } = options
  const broken = new AbortController()
  const stop = AbortSignal.any([broken.signal, ...(options.signal ? [options.signal] : [])])
  const pending = new Pending(patience)
  const kernel = createKernel(spec, { pending, seal: sealOnDemand(), now })
  const cancels = new Map<unknown, AbortController>()
  const running = new Set<Promise<void>>()
  // Before the handshake a client is served as the newest revision that has one.
  let peer: Peer = { version: legacyVersions[0], client: { capabilities: {} } }

  const send = (text: string) => {
    if (!stop.aborted) output.write(`${text}\n`)
  }
  const refuse = (error: unknown, id?: Id): Answer =>
    failure(id, peer.version, asRpcError(error, spec.report))

  const answer = async (request: RequestMessage): Promise<Answer | undefined> => {
    const { id, method, params } = request
    if (cancels.has(id)) throw new RpcError('invalidRequest', `A request "${id}" is under way.`)
    if (method === 'initialize') peer = negotiate(spec, params)
    const modern = method === 'server/discover' || claimedVersion(params) !== undefined
    const caller = modern ? readEnvelope(spec, params) : peer
    const cancel = new AbortController()
    cancels.set(id, cancel)
    const call = { ...caller, signal: cancel.signal, send }
    return kernel.answer(request, call).finally(() => cancels.delete(id))
  }

  const receive = async (value: unknown): Promise<Answer | undefined> => {
    let id: Id | undefined
    try {
      const message = readMessage(value)
      if (message.kind === 'response') pending.settle(message, undefined)
      if (message.kind === 'notification' && message.method === 'notifications/cancelled')
        cancels.get(message.params.requestId)?.abort()
      if (message.kind !== 'request') return undefined
      id = message.id
      return await answer(message)
    } catch (error) {
      return refuse(error, error instanceof Malformed ? error.id : id)
    }
  }

  const receiveLine = async (line: string): Promise<void> => {
    try {
      const reply = await receiveAll(parse(line), peer.version, receive)
      if (reply) send(reply.text)
    } catch (error) {
      send(refuse(error).text)
    }
  }

  const read = lineReader(
    limit,
    (line) => {
      const done = receiveLine(line).finally(() => running.delete(done))
      running.add(done)
    },
    () => send(refuse(new Malformed('parse', `A message has at most ${limit} bytes.`)).text),
  )

  output.once('error', () => broken.abort())
  const stopped = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => {
      for (const cancel of cancels.values()) cancel.abort()
      resolve()
    })
  })
  try {
    for await (const chunk of addAbortSignal(stop, input)) {
      // Whoever does not read answers is not read either.
      if (output.writableNeedDrain) await once(output, 'drain', { signal: stop })
      read(chunk)
    }
    pending.abandon()
    await Promise.race([Promise.all(running), stopped])
  } catch (error) {
    if (!stop.aborted) throw error
  }
}

/** Loading what signs costs a start-up more than it is worth before the first question. */
const sealOnDemand = () => {
  let seal: Promise<Seal> | undefined
  return () => {
    seal ??= import('#mcp/wire/seal.ts').then(({ createSeal }) => createSeal())
    return seal
  }
}
