import { type Auth, errorCodes, modernVersion, RpcError, type ServerSpec } from '#mcp/protocol.ts'
import { type Answer, asRpcError, failure } from '#mcp/wire/answer.ts'
import { receiveAll } from '#mcp/wire/batch.ts'
import { readBody } from '#mcp/wire/body.ts'
import { callerReader, type Sender, UnknownSession } from '#mcp/wire/callers.ts'
import { acceptsBoth, isJson } from '#mcp/wire/headers.ts'
import { createKernel } from '#mcp/wire/kernel.ts'
import { type Id, Malformed, parse, type RequestMessage, readMessage } from '#mcp/wire/message.ts'
import { Pending } from '#mcp/wire/pending.ts'
import { Reply } from '#mcp/wire/reply.ts'
import { createSeal } from '#mcp/wire/seal.ts'
import { writeSession } from '#mcp/wire/session.ts'

export interface HttpOptions {
  /** The longest body in bytes. */
  limit?: number
  /** Whether `initialize` hands out a session id: only then can such a client be asked things. */
  sessions?: boolean
  /** Processes with the same key take each other's sessions and open questions. */
  key?: string | Uint8Array
  /** Milliseconds a person may take to answer a question. */
  patience?: number
  now?(): number
}

export type HttpHandler = (request: Request, caller?: { auth?: Auth }) => Promise<Response>

/** One POST on its way to its response. */
interface Visit extends Sender {
  reply: Reply
  cancels: AbortController[]
  status: number
  /** The session id that a handshake in this POST began. */
  begun?: string
}

/** Streamable HTTP without state: each POST is served for itself, by any process with the key. */
export const serveHttp = (spec: ServerSpec, options: HttpOptions = {}): HttpHandler => {
  const { limit = 10 << 20, sessions = true, patience = 600_000, now = Date.now } = options
  const seal = createSeal(options.key)
  const pending = new Pending(patience)
  const kernel = createKernel(spec, { pending, seal: () => seal, now })
  const caller = callerReader(spec, seal)
  /** Requests under way by session and id, so that a notification can cancel one. */
  const underWay = new Map<string, AbortController>()

  const answer = async (visit: Visit, request: RequestMessage): Promise<Answer | undefined> => {
    const { headers, auth, sessionId, reply } = visit
    const peer = caller.ofRequest(visit, request)
    const cancel = new AbortController()
    visit.cancels.push(cancel)
    const key = taskKey(sessionId, request.id)
    if (sessionId !== null) underWay.set(key, cancel)
    const call = { ...peer, auth, headers, signal: cancel.signal, send: reply.send }
    const done = await kernel.answer(request, call)
    underWay.delete(key)
    visit.status = statusOf(done?.code, peer.version)
    if (sessions && request.method === 'initialize' && done?.code === undefined)
      visit.begun = writeSession(seal, peer, auth?.principal)
    return done
  }

  const refuse = (visit: Visit, error: unknown, id?: Id): Answer => {
    const known = asRpcError(error, spec.report)
    visit.status =
      error instanceof UnknownSession ? 404 : known.code === errorCodes.internal ? 500 : 400
    return failure(id, visit.stated ?? '', known)
  }

  const receive = async (visit: Visit, value: unknown): Promise<Answer | undefined> => {
    let id: Id | undefined
    try {
      const message = readMessage(value)
      if (message.kind === 'request') {
        id = message.id
        return await answer(visit, message)
      }
      if (visit.stated !== modernVersion) caller.legacy(visit)
      if (message.kind === 'response') pending.settle(message, visit.auth?.principal)
      else if (message.method === 'notifications/cancelled')
        underWay.get(taskKey(visit.sessionId, message.params.requestId))?.abort()
      return undefined
    } catch (error) {
      return refuse(visit, error, error instanceof Malformed ? error.id : id)
    }
  }

  const receiveBody = async (visit: Visit, body: string): Promise<Answer | undefined> => {
    try {
      const value = parse(body)
      if (!Array.isArray(value)) return await receive(visit, value)
      const { version } = visit.stated === modernVersion ? modern : caller.legacy(visit)
      const answers = await receiveAll(value, version, (one) => receive(visit, one))
      visit.status = 200
      return answers
    } catch (error) {
      return refuse(visit, error)
    }
  }

  return async (request, { auth } = {}) => {
    const refusal = refuseForm(request)
    if (refusal) return refusal
    const body = await readBody(request, limit)
    // The rest of the body stays unread, so the connection cannot be used again.
    if (body === undefined)
      return plain(413, `A body has at most ${limit} bytes.`, { connection: 'close' })
    const { headers, signal } = request
    const cancels: AbortController[] = []
    const cancelAll = () => {
      for (const cancel of cancels) cancel.abort()
    }
    // Nothing can be resumed, so an answer that nobody waits for is not worked on either.
    signal.addEventListener('abort', cancelAll, { once: true })
    const visit: Visit = {
      headers,
      auth,
      stated: headers.get('mcp-protocol-version'),
      sessionId: sessions ? headers.get('mcp-session-id') : null,
      reply: new Reply(cancelAll),
      cancels,
      status: 200,
    }
    receiveBody(visit, body).then((done) => finish(visit, done))
    return visit.reply.response
  }
}

const finish = ({ reply, status, begun, cancels }: Visit, done: Answer | undefined): void => {
  if (done) {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (begun) headers['mcp-session-id'] = begun
    reply.finish(new Response(done.text, { status, headers }), done.text)
    return
  }
  const cancelled = cancels.length > 0
  reply.finish(
    cancelled
      ? new Response('', { headers: { 'content-type': 'text/event-stream' } })
      : new Response(null, { status: 202 }),
  )
}

const modern = { version: modernVersion }

const taskKey = (sessionId: string | null, id: unknown): string =>
  `${sessionId} ${JSON.stringify(id)}`

const badRequests: number[] = [errorCodes.headerMismatch, errorCodes.missingCapability]

/** An error of a handler travels in a 200, except where the revision says otherwise. */
const statusOf = (code: number | undefined, version: string): number => {
  if (code === undefined || version !== modernVersion) return 200
  if (code === errorCodes.methodNotFound) return 404
  return badRequests.includes(code) ? 400 : 200
}

const refuseForm = (request: Request): Response | undefined => {
  if (request.method !== 'POST')
    return plain(405, 'Messages are sent with POST; there is no other method here.', {
      allow: 'POST',
    })
  if (!isJson(request.headers)) return plain(415, 'The Content-Type has to be application/json.')
  if (!acceptsBoth(request.headers))
    return plain(406, 'Accept has to name application/json and text/event-stream.')
  return undefined
}

const plain = (status: number, sentence: string, extra: Record<string, string> = {}): Response =>
  new Response(failure(undefined, '', new RpcError('invalidRequest', sentence)).text, {
    status,
    headers: { 'content-type': 'application/json', ...extra },
  })
