import { ApiError, messageOf } from '#core/error.ts'
import type { Method, Operation, RequestOf, ResultOf } from '#core/operation.ts'

export type Fetch = (request: Request) => Response | Promise<Response>

export interface ApiOptions {
  baseUrl: string
  token: string
  fetch: Fetch
  /** ms for one attempt; `Infinity` where the API is in this process. */
  timeout?: number
  /** Attempts in all, for calls that may be repeated. */
  attempts?: number
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
  /** What the cloud says beside an answer, such as that something is recorded but not enforced. */
  onNote?: (note: string) => void
}

export interface CallOptions {
  signal?: AbortSignal
}

/** The v2 API as a function: an operation and its request in, its result out, or an `ApiError`. */
export type Api = <O extends Operation>(
  operation: O,
  request: RequestOf<O>,
  options?: CallOptions,
) => Promise<ResultOf<O>>

interface LooseRequest {
  path?: Record<string, string | number>
  query?: Record<string, unknown>
  body?: unknown
}

/** Header in which the platform sends its notes. */
export const noteHeader = 'x-cove-note'

/** Calls that leave the same state when made twice, and so may be tried again. */
const repeatable = new Set<Method>(['GET', 'PUT', 'DELETE'])

export const createApi = (options: ApiOptions): Api => {
  const { timeout = 30_000, attempts = 4, sleep = pause } = options

  const attempt = async (operation: Operation, request: LooseRequest, signal?: AbortSignal) => {
    const url = urlOf(options.baseUrl, operation.path, request)
    const body = request.body === undefined ? undefined : JSON.stringify(request.body)
    const headers: Record<string, string> = {
      authorization: `Bearer ${options.token}`,
      accept: 'application/json',
    }
    if (body !== undefined) headers['content-type'] = 'application/json'
    return withinTime(timeout, signal, async (limit) => {
      const init = { method: operation.method, headers, ...(body === undefined ? {} : { body }) }
      const response = await options.fetch(requestOf(url, init, limit, timeout))
      const note = response.headers.get(noteHeader)
      if (note) options.onNote?.(decodeURIComponent(note))
      return readAnswer(response, operation)
    })
  }

  return async (operation, request, { signal } = {}) => {
    for (let made = 1; ; made++) {
      try {
        return (await attempt(operation, request as LooseRequest, signal)) as never
      } catch (thrown) {
        if (signal?.aborted) throw new ApiError(499, 'The call was cancelled.')
        const error = asApiError(thrown, options.baseUrl, timeout)
        const wait = retryWait(error, operation.method, made)
        if (wait === undefined || made >= attempts) throw error
        await sleep(wait, signal)
      }
    }
  }
}

/** ms until the next try, or undefined when the call must not or need not be repeated. */
const retryWait = (error: ApiError, method: Method, made: number): number | undefined => {
  const passing = error.status === 429 || error.status >= 502 || error.status === 500
  // A refused rate limit did nothing, so even a POST may be sent again.
  if (!passing || error.status === 501) return undefined
  if (!repeatable.has(method) && error.status !== 429) return undefined
  const asked = error.retryAfter === undefined ? 0 : error.retryAfter * 1000
  if (asked > longestWait) return undefined
  return Math.max(asked, Math.min(longestWait, 250 * 2 ** (made - 1) * (0.5 + Math.random())))
}

/** Nobody waits longer than this inside one call: the error says when to come back. */
const longestWait = 20_000

const urlOf = (baseUrl: string, template: string, request: LooseRequest): string => {
  const path = template.replace(/:(\w+)/g, (_all, name: string) => {
    const value = request.path?.[name]
    if (value === undefined || value === '') throw ApiError.invalid(`${name} must not be empty.`)
    return encodeURIComponent(value).replaceAll('%3A', ':')
  })
  const url = new URL(baseUrl.replace(/\/+$/, '') + path)
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) url.searchParams.append(name, String(item))
    }
  }
  return url.href
}

const readAnswer = async (response: Response, operation: Operation): Promise<unknown> => {
  const text = await response.text()
  const what = `${operation.method} ${operation.path}`
  if (response.ok) {
    if (text === '') return undefined
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new ApiError(502, `${what} answered ${response.status} with text that is not JSON.`, {
        cause,
      })
    }
  }
  throw refusal(response, text, what, operation.scope)
}

const refusal = (
  response: Response,
  text: string,
  what: string,
  scope: string | undefined,
): ApiError => {
  const body = parsed(text)
  const said = [body?.message, body?.error, ...(Array.isArray(body?.messages) ? body.messages : [])]
  const message = said.find((part) => typeof part === 'string' && part !== '')
  const requestId = body?.request_id ?? response.headers.get('x-request-id')
  const retryAfter = secondsToWait(response)
  return new ApiError(
    response.status,
    typeof message === 'string' ? message : `${what} was answered with status ${response.status}.`,
    {
      ...(typeof body?.id === 'string' ? { id: body.id } : {}),
      ...(typeof requestId === 'string' ? { requestId } : {}),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(scope === undefined ? {} : { scope }),
    },
  )
}

const parsed = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as never) : undefined
  } catch {
    return undefined // An error page is not JSON; its status speaks.
  }
}

const secondsToWait = (response: Response): number | undefined => {
  const header = response.headers.get('retry-after')
  if (header !== null) {
    const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
    if (Number.isFinite(seconds)) return Math.max(0, seconds)
  }
  const reset = response.headers.get('ratelimit-reset')
  if (response.status !== 429 || reset === null) return undefined
  return Math.max(0, Math.ceil(Number(reset) - Date.now() / 1000))
}

const asApiError = (thrown: unknown, baseUrl: string, timeout: number): ApiError => {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof Error && thrown.name === 'TimeoutError') {
    return new ApiError(504, `${baseUrl} did not answer within ${timeout / 1000} s.`, {
      id: 'timeout',
      cause: thrown,
    })
  }
  const cause = thrown instanceof Error && thrown.cause ? thrown.cause : thrown
  return new ApiError(503, `${baseUrl} could not be reached: ${messageOf(cause)}.`, {
    id: 'unreachable',
    cause: thrown,
  })
}

/**
 * Within this process nothing is sent, so a signal need only be readable: `fetch`'s own bookkeeping for
 * it costs more than all the rest of a small call.
 */
const requestOf = (
  url: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
  timeout: number,
): Request => {
  if (!signal) return new Request(url, init)
  if (timeout !== Number.POSITIVE_INFINITY) return new Request(url, { ...init, signal })
  return Object.defineProperty(new Request(url, init), 'signal', { value: signal })
}

/** Runs work under a signal that the caller or the time limit ends; nothing of it outlives the work. */
const withinTime = async <R>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<R>,
): Promise<R> => {
  if (ms === Number.POSITIVE_INFINITY) return work(signal)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new DOMException('Too slow', 'TimeoutError')), ms)
  const pass = () => limit.abort(signal?.reason)
  signal?.addEventListener('abort', pass, { once: true })
  if (signal?.aborted) pass()
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', pass)
  }
}

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
