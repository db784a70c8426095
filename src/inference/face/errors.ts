import { ApiError, messageOf } from '#core/error.ts'
import { Unanswered } from '../dispatch.ts'
import { refusalOf } from '../refusal.ts'

/** The kinds of error that clients of this API tell apart. */
const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
}

const errorBody = (error: ApiError, param: string | null) => ({
  error: {
    message: error.message,
    type: types[error.status] ?? 'server_error',
    param,
    code: error.id,
  },
})

/** An error as clients of this API expect it. */
export const errorResponse = (
  error: ApiError,
  headers: Record<string, string> = {},
  param: string | null = null,
): Response =>
  new Response(JSON.stringify(errorBody(error, param)), {
    status: error.status,
    headers: {
      'content-type': 'application/json',
      ...(error.retryAfter === undefined
        ? {}
        : { 'retry-after': String(Math.ceil(error.retryAfter)) }),
      ...headers,
    },
  })

/** The provider's own words on a request that no model would take, where they are its last. */
export const providersRefusal = ({ attempts }: Unanswered) => {
  const failure = attempts.at(-1)?.failure
  if (failure?.kind !== 'bad_request' || !failure.body?.startsWith('{')) return undefined
  return { status: failure.status ?? 400, body: failure.body }
}

export const asApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  if (error instanceof Unanswered) return refusalOf(error)
  return new ApiError(500, 'Something went wrong inside Cove; its log has the details.', {
    cause: error,
  })
}

/** The last event of a stream that broke: an error, and no end mark. */
export const errorEvent = (responses: boolean, thrown: unknown): Buffer => {
  const message = `The answer is incomplete: the model ${messageOf(thrown)}.`
  const data = responses
    ? { type: 'error', code: 'stream_cut', message, param: null, sequence_number: 0 }
    : { error: { message, type: 'server_error', param: null, code: 'stream_cut' } }
  return Buffer.from(`${responses ? 'event: error\n' : ''}data: ${JSON.stringify(data)}\n\n`)
}
