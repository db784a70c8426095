import { Hono } from 'hono'
import { ApiError, messageOf } from '#core/error.ts'
import type { Operation } from '#core/operation.ts'
import { type Handler, validated } from './handle.ts'
import type { Log } from './log.ts'
import { openApiOf } from './openapi.ts'
import type { createRateLimit } from './rate-limit.ts'
import { allows, type Token } from './tokens.ts'

export interface AppParts {
  handlers: ReadonlyMap<Operation, Handler>
  /** Operations that answer 501, as `GET /v2/domains/:name`. */
  unserved: readonly string[]
  routes: readonly { path: string; handler: (request: Request) => Response | Promise<Response> }[]
  authenticate(request: Request): Promise<Token | undefined>
  rateLimit: ReturnType<typeof createRateLimit>
  uuid(): string
  log: Log
  version: string
  /** Check what handlers answer against the contract; on in tests. */
  checkResults: boolean
}

/** The v2 API as one `fetch`. */
export const createApp = (parts: AppParts) => {
  const app = new Hono<{ Variables: { id: string } }>({ strict: false })

  for (const { path, handler } of parts.routes) app.all(path, (c) => handler(c.req.raw))

  app.get('/v2/openapi.json', (c) => c.json(openApiOf([...parts.handlers.keys()], parts.version)))

  app.use('/v2/*', async (c, next) => {
    const id = parts.uuid()
    c.set('id', id)
    await next()
    c.res.headers.set('x-request-id', id)
  })

  for (const [operation, handler] of [...parts.handlers].sort(([a], [b]) => literalFirst(a, b))) {
    for (const path of spellings(operation.path)) {
      app.on(operation.method, path, async (c) => {
        const request = c.req.raw
        const token = await parts.authenticate(request)
        if (!token) throw ApiError.unauthorized(unauthorizedText(request))
        const rate = parts.rateLimit.count(token.id)
        c.header('ratelimit-limit', String(rate.limit))
        c.header('ratelimit-remaining', String(rate.remaining))
        c.header('ratelimit-reset', String(rate.reset))
        const refusal = parts.rateLimit.refusal(token.id)
        if (refusal) throw refusal
        checkScope(token, operation)
        const answer = await handler({ request, path: c.req.param(), token })
        if (parts.checkResults) checkAnswer(operation, answer.body)
        if (answer.note) c.header('x-cove-note', encodeURIComponent(answer.note))
        if (answer.body === undefined) return c.body(null, operation.status as 204)
        return c.json(answer.body as object, operation.status as 200)
      })
    }
  }

  for (const text of parts.unserved) {
    const [method = '', path = ''] = text.split(' ')
    for (const spelling of spellings(path)) {
      app.on(method, spelling, () => {
        throw ApiError.notServed(`This Cove does not serve ${text} yet.`)
      })
    }
  }

  app.notFound((c) => {
    const error = new ApiError(404, `There is no ${c.req.method} ${c.req.path} here.`)
    return wireError(error, c.get('id') ?? parts.uuid())
  })

  app.onError((thrown, c) => {
    const id = c.get('id') ?? parts.uuid()
    const error = thrown instanceof ApiError ? thrown : internal(thrown)
    if (error.status >= 500 && error.status !== 501) {
      const cause = thrown instanceof Error ? thrown.stack : messageOf(thrown)
      parts.log.error(error.message, { request_id: id, path: c.req.path, cause })
    }
    const response = wireError(error, id)
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
      const value = c.res.headers.get(name)
      if (value !== null) response.headers.set(name, value)
    }
    return response
  })

  return app
}

/** `/v2/gen-ai/` has a second spelling that clients use. */
const spellings = (path: string): string[] =>
  path.startsWith('/v2/gen-ai/') ? [path, path.replace('/v2/gen-ai/', '/v2/genai/')] : [path]

/** `/routers/tasks/presets` must be tried before `/routers/:uuid`. */
const literalFirst = (a: Operation, b: Operation): number => {
  const shape = (operation: Operation) => operation.path.replace(/:\w+/g, '~')
  return shape(a) < shape(b) ? -1 : shape(a) > shape(b) ? 1 : 0
}

const checkScope = (token: Token, operation: Operation) => {
  if (operation.scope === undefined || allows(token.scopes, operation.scope)) return
  throw ApiError.forbidden(
    `You are not authorized to perform this operation: the token "${token.name}" lacks the scope ${operation.scope}.`,
  )
}

const unauthorizedText = (request: Request): string =>
  request.headers.has('authorization')
    ? 'Unable to authenticate you: the token is unknown, expired or revoked.'
    : 'Unable to authenticate you: send the header "Authorization: Bearer <token>".'

const internal = (thrown: unknown): ApiError =>
  new ApiError(
    500,
    'Something went wrong inside Cove; its log has the details under this request id.',
    {
      cause: thrown,
    },
  )

/** The one shape in which the API refuses. */
export const wireError = (error: ApiError, requestId: string): Response =>
  Response.json(
    { id: error.id, message: error.message, request_id: requestId },
    {
      status: error.status,
      headers: {
        'x-request-id': requestId,
        ...(error.retryAfter === undefined
          ? {}
          : { 'retry-after': String(Math.ceil(error.retryAfter)) }),
      },
    },
  )

const checkAnswer = (operation: Operation, body: unknown) => {
  if (!operation.returns) {
    if (body !== undefined) throw new Error(`${operation.path} must answer with an empty body.`)
    return
  }
  validated(operation.returns, body, `answer of ${operation.method} ${operation.path}`, 400)
}
