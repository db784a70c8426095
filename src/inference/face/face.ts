import { ApiError } from '#core/error.ts'
import type { Limits } from '../dispatch.ts'
import { Abandoned, Unanswered } from '../dispatch.ts'
import type { Endpoint, Surface } from '../endpoint.ts'
import type { Inference, Route } from '../inference.ts'
import { asApiError, errorResponse, providersRefusal } from './errors.ts'
import { createGate } from './gate.ts'
import { relay } from './stream.ts'

/** Bytes of one request: room for a few pictures. */
const longestBody = 32 * 1024 * 1024
/** Of a request that does not say how long it is. */
const longestUnsaid = 4 * 1024 * 1024

export interface FaceParts {
  inference: Inference
  /** Throws an `ApiError` for a caller who may not. */
  admit(request: Request): Promise<void>
  readText(request: Request, limit: number): Promise<string>
  /** What went wrong inside, for the log. */
  report(error: unknown): void
}

/** The OpenAI-compatible API over `fetch`, one function for each of its paths. */
export const createFace = ({ inference, admit, readText, report }: FaceParts) => {
  const gate = createGate()

  const answer = async (surface: Surface, request: Request, limit: number, leave: () => void) => {
    const body = parseBody(await readText(request, limit))
    // A stream can also be ended by its reader; a caller may go away before anybody reads it.
    const gone = body.stream === true ? new AbortController() : undefined
    const abandon = () => {
      gone?.abort()
      leave()
    }
    if (request.signal.aborted) abandon()
    request.signal.addEventListener('abort', abandon, { once: true })
    const ended = () => {
      request.signal.removeEventListener('abort', abandon)
      leave()
    }
    try {
      const answered = await inference.ask({
        surface,
        model: body.model,
        body,
        signal: gone?.signal ?? request.signal,
        limits: limitsIn(request),
      })
      const headers = headersOf(answered, answered.requestId)
      if (!answered.stream) {
        ended()
        return new Response(answered.text, {
          headers: { 'content-type': 'application/json', ...headers },
        })
      }
      return new Response(relay(answered.events, surface === 'responses', { abandon, ended }), {
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-cache',
          ...headers,
        },
      })
    } catch (error) {
      ended()
      throw error
    }
  }

  const refuse = (error: unknown): Response => {
    if (error instanceof Abandoned) return new Response(null, { status: 499 })
    const headers = error instanceof Unanswered ? attemptHeaders(error.attempts) : {}
    const own = error instanceof Unanswered ? providersRefusal(error) : undefined
    if (own) {
      return new Response(own.body, {
        status: own.status,
        headers: { 'content-type': 'application/json', ...headers },
      })
    }
    const known = asApiError(error)
    if (known.status === 500) report(error)
    return errorResponse(known, headers, known.id === 'model_not_found' ? 'model' : null)
  }

  const serve = (surface: Surface) => async (request: Request) => {
    let leave: (() => void) | undefined
    try {
      if (request.method !== 'POST')
        throw new ApiError(405, `/v1/${surface} takes POST, not ${request.method}.`)
      await admit(request)
      const said = request.headers.get('content-length')
      leave = gate.enter(said === null ? longestUnsaid : Number(said))
      if (!leave)
        throw new ApiError(503, 'Cove has too much under way. Try again.', { retryAfter: 1 })
      const limit = said === null ? longestUnsaid : longestBody
      return await answer(surface, request, limit, leave)
    } catch (error) {
      leave?.()
      return refuse(error)
    }
  }

  const models = async (request: Request) => {
    try {
      await admit(request)
      const { endpoints, routers } = await inference.known()
      const data = [
        ...[...endpoints]
          .filter(([name, [first]]) => name === first?.model)
          .map(([id, [first]]) => ({ id, object: 'model', created: 0, owned_by: first?.provider })),
        ...[...routers.values()].map(({ name, created_at }) => ({
          id: `router:${name}`,
          object: 'model',
          created: Math.floor(Date.parse(created_at) / 1000),
          owned_by: 'cove',
        })),
      ]
      const wanted = decodeURIComponent(
        new URL(request.url).pathname.replace(/^\/v1\/models\/?/, ''),
      )
      if (wanted === '') return Response.json({ object: 'list', data })
      const found = data.find(({ id }) => id === wanted)
      if (found) return Response.json(found)
      throw new ApiError(404, `The model "${wanted}" does not exist.`, { id: 'model_not_found' })
    } catch (error) {
      return refuse(error)
    }
  }

  return { serve, models }
}

const parseBody = (text: string): Record<string, unknown> & { model: string } => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw ApiError.badRequest('The request body is not valid JSON.')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw ApiError.badRequest('The request body must be a JSON object.')
  const { model } = body as Record<string, unknown>
  if (typeof model !== 'string' || model === '') {
    throw ApiError.badRequest('model is required: the id of a model, or router:<name>.')
  }
  return body as Record<string, unknown> & { model: string }
}

/** Deadlines that a caller may set for one request, in ms. */
const limitHeaders = {
  'x-cove-deadline-ms': ['total'],
  'x-cove-first-token-ms': ['firstToken', 'lastFirstToken'],
} as const satisfies Record<string, readonly (keyof Limits)[]>

const limitsIn = (request: Request): Partial<Limits> => {
  const limits: Record<string, number> = {}
  for (const [header, names] of Object.entries(limitHeaders)) {
    const text = request.headers.get(header)
    if (text === null) continue
    if (!/^[1-9]\d{0,8}$/.test(text))
      throw ApiError.badRequest(`${header} must be a whole number of ms, not "${text}".`)
    for (const name of names) limits[name] = Number(text)
  }
  return limits
}

const nameOf = ({ provider, model }: Endpoint): string => encodeURI(`${provider}/${model}`)

const headersOf = (route: Route, requestId: string | undefined): Record<string, string> => ({
  ...(route.router === ''
    ? {}
    : { 'x-cove-router': route.router, 'x-cove-task': encodeURI(route.task) }),
  ...(route.confidence === undefined ? {} : { 'x-cove-confidence': route.confidence.toFixed(2) }),
  'x-cove-model': nameOf(route.endpoint),
  ...attemptHeaders(route.attempts),
  ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
})

/** How many models were asked, and how those that failed did. */
const attemptHeaders = (attempts: Route['attempts']): Record<string, string> => {
  const failed = attempts.filter(({ failure }) => failure !== undefined)
  return {
    'x-cove-attempts': String(attempts.length),
    ...(failed.length === 0
      ? {}
      : {
          'x-cove-failed': failed
            .map(({ endpoint, failure }) => `${nameOf(endpoint)}=${failure?.kind}`)
            .join(', '),
        }),
  }
}
