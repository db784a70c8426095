import type { Clock } from '#platform/clock.ts'
import type { Endpoint, Surface, Tokens } from '../endpoint.ts'
import { createEvents, dataOf } from './events.ts'
import { Failure, failureOf } from './failure.ts'
import { newReading, readEvent, type StreamReading, usageOf } from './reading.ts'
import { type Answer, readText, type Send } from './transport.ts'
import { createWatch, type Watch } from './watch.ts'

export interface UpstreamRequest {
  readonly surface: Surface
  /** The body to send; `model` is filled in here. */
  readonly body: Readonly<Record<string, unknown>>
  readonly stream: boolean
  /** Ask for usage in the stream and keep it from the caller, who did not ask. */
  readonly quietUsage: boolean
}

export interface CallLimits {
  /** ms to the whole answer, or to the end of the stream. */
  readonly total: number
  /** ms to the first token of a stream. */
  readonly firstToken: number
  /** ms of silence in a stream. */
  readonly silence: number
}

/** A whole answer. */
export interface Whole {
  readonly stream: false
  readonly text: string
  readonly json: Record<string, unknown>
  readonly usage: Tokens | undefined
  readonly requestId: string | undefined
}

/** A stream whose first event has come. */
export interface Streamed {
  readonly stream: true
  readonly reading: StreamReading
  readonly firstAfter: number
  readonly requestId: string | undefined
  /** The bytes of whole events; fails with a `Failure` when the stream is cut. */
  events(): AsyncGenerator<Buffer, void, undefined>
}

export interface Upstream {
  send: Send
  clock: Clock
  env: Readonly<Record<string, string | undefined>>
}

const longestAnswer = 32 * 1024 * 1024
const longestError = 64 * 1024

/** Asks one model once. Anything but an answer is a `Failure`. */
export const callOnce = async (
  { send, clock, env }: Upstream,
  endpoint: Endpoint,
  request: UpstreamRequest,
  limits: CallLimits,
  signal: AbortSignal,
): Promise<Whole | Streamed> => {
  const watch = createWatch(clock, signal)
  watch.total(limits.total)
  if (request.stream) watch.firstToken(limits.firstToken)
  const started = clock.now()
  try {
    const answer = await send(`${endpoint.baseUrl}/${request.surface}`, {
      method: 'POST',
      headers: headersFor(endpoint, env, request.stream),
      body: bodyFor(endpoint, request),
      breakable: watch.breakable,
    })
    if (answer.status < 200 || answer.status > 299) {
      const text = await readText(answer.body, longestError)
      throw failureOf(answer.status, answer.headers, text, clock.now())
    }
    if (!request.stream) {
      const whole = wholeAnswer(answer, await readText(answer.body, longestAnswer))
      watch.end()
      return whole
    }
    return await openStream(answer, request, { watch, limits, clock, started })
  } catch (error) {
    watch.end()
    throw watch.expired ?? asFailure(error)
  }
}

const headersFor = (endpoint: Endpoint, env: Upstream['env'], stream: boolean) => {
  const key = endpoint.apiKeyEnv === null ? undefined : env[endpoint.apiKeyEnv]
  if (endpoint.apiKeyEnv !== null && !key) {
    throw new Failure('auth', `has no key: ${endpoint.apiKeyEnv} is not set where Cove runs`)
  }
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    ...(key ? { authorization: `Bearer ${key}` } : {}),
  }
}

const bodyFor = (endpoint: Endpoint, { body, quietUsage }: UpstreamRequest): string =>
  JSON.stringify(
    quietUsage
      ? { ...body, model: endpoint.model, stream_options: { include_usage: true } }
      : { ...body, model: endpoint.model },
  )

const wholeAnswer = ({ headers }: Answer, text: string): Whole => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new Failure('garbage', 'answered with text that is not JSON')
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Failure('garbage', 'answered with JSON that is not an object')
  }
  return {
    stream: false,
    text,
    json: json as Record<string, unknown>,
    usage: usageOf(json),
    requestId: headers['x-request-id'] as string | undefined,
  }
}

interface Opening {
  watch: Watch
  limits: CallLimits
  clock: Clock
  started: number
}

/** Waits for the first event with data: until then another model may still be asked. */
const openStream = async (
  { headers, body }: Answer,
  { surface, quietUsage }: UpstreamRequest,
  { watch, limits, clock, started }: Opening,
): Promise<Streamed> => {
  if (!String(headers['content-type']).includes('text/event-stream')) {
    body.destroy()
    throw new Failure('garbage', 'answered a request for a stream with something else')
  }
  const events = createEvents()
  const reading = newReading()
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()

  /** The next events to pass on; undefined at the end of the stream. */
  const next = async (): Promise<Buffer | undefined> => {
    const { done, value } = await chunks.next()
    if (done) return undefined
    const passed: Buffer[] = []
    for (const event of events.push(value)) {
      const data = dataOf(event)
      const usageOnly = data !== '' && readEvent(surface, reading, data)
      if (!(usageOnly && quietUsage)) passed.push(event)
    }
    return passed.length === 1 ? passed[0] : Buffer.concat(passed)
  }

  const opening: Buffer[] = []
  while (reading.deltas === 0 && !reading.finished) {
    const bytes = await next()
    if (bytes === undefined) throw new Failure('cut', 'closed the stream before the first token')
    opening.push(bytes)
    if (reading.error !== undefined) throw new Failure('server', `failed: ${reading.error}`)
  }
  watch.silence(limits.silence)

  async function* relay(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield Buffer.concat(opening)
      for (let bytes = await next(); bytes !== undefined; bytes = await next()) {
        watch.alive()
        if (bytes.length > 0) yield bytes
      }
      if (!reading.finished && reading.error === undefined)
        throw new Failure('cut', 'closed the stream before the answer was complete')
    } catch (error) {
      throw watch.expired ?? asFailure(error, 'cut')
    } finally {
      watch.end()
      body.destroy()
    }
  }

  return {
    stream: true,
    reading,
    firstAfter: clock.now() - started,
    requestId: headers['x-request-id'] as string | undefined,
    events: relay,
  }
}

const words: Record<string, string> = {
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'has a host name that does not resolve',
  EAI_AGAIN: 'has a host name that does not resolve',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  ETIMEDOUT: 'did not accept the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
}

const asFailure = (error: unknown, kind: 'network' | 'cut' = 'network'): Failure => {
  if (error instanceof Failure) return error
  const { code, message } = error as NodeJS.ErrnoException
  return new Failure(kind, words[code ?? ''] ?? `failed: ${message ?? String(error)}`)
}
