import { ApiError, messageOf } from '#core/error.ts'
import type { Method } from '#core/operation.ts'

/** A namespace's own API: where it is, and who calls. */
export interface DataPlaneTarget {
  /** With or without its scheme; https when it has none. */
  apiHost: string
  user: string
  password: string
}

export interface DataPlaneRequest {
  method: Method
  /** Parts of the path after `/api/v1/namespaces/`, not yet escaped. */
  path: readonly string[]
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  signal?: AbortSignal
  /** Statuses that are an answer, besides success. */
  accept?: readonly number[]
}

export interface DataPlaneAnswer {
  status: number
  body: unknown
  activationId: string | undefined
}

/** One call of the functions data plane: Basic authentication, bare bodies, `{ error, code }`. */
export const callDataPlane = async (
  fetch: (request: Request) => Response | Promise<Response>,
  target: DataPlaneTarget,
  request: DataPlaneRequest,
): Promise<DataPlaneAnswer> => {
  const base = /^https?:\/\//.test(target.apiHost) ? target.apiHost : `https://${target.apiHost}`
  const url = new URL(
    `${base.replace(/\/+$/, '')}/api/v1/namespaces/${request.path.map(encodeURIComponent).join('/')}`,
  )
  for (const [name, value] of Object.entries(request.query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value))
  const credentials = Buffer.from(`${target.user}:${target.password}`).toString('base64')
  const response = await reached(base, request.signal, async () =>
    fetch(
      new Request(url, {
        method: request.method,
        headers: {
          authorization: `Basic ${credentials}`,
          accept: 'application/json',
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        signal: AbortSignal.any([
          AbortSignal.timeout(longestCall),
          ...(request.signal ? [request.signal] : []),
        ]),
      }),
    ),
  )
  const text = await response.text()
  const body = parsed(text)
  const activationId = response.headers.get('x-openwhisk-activation-id') ?? undefined
  const accepted = response.ok || request.accept?.includes(response.status)
  if (accepted && (text === '' || body !== undefined))
    return { status: response.status, body, activationId }
  throw refusal(response, body, request)
}

/** A blocking call of a function takes a minute at most. */
const longestCall = 90_000

const reached = async (
  base: string,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> => {
  try {
    return await send()
  } catch (thrown) {
    if (thrown instanceof ApiError) throw thrown
    if (signal?.aborted) throw new ApiError(499, 'The call was cancelled.')
    const cause = thrown instanceof Error && thrown.cause ? thrown.cause : thrown
    throw new ApiError(503, `${base} could not be reached: ${messageOf(cause)}.`, {
      id: 'unreachable',
      cause: thrown,
    })
  }
}

const refusal = (response: Response, body: unknown, { method, path }: DataPlaneRequest) => {
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(
    response.status,
    typeof error === 'string' && error !== ''
      ? error
      : `${method} ${path.join('/')} was answered with status ${response.status}.`,
    {
      ...(code === undefined ? {} : { requestId: String(code) }),
      ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
    },
  )
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // An error page is not JSON; its status speaks.
  }
}
