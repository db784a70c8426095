import type { IncomingHttpHeaders } from 'node:http'

/** Why a model did not answer. */
export type FailureKind =
  | 'network'
  | 'timeout'
  | 'server'
  | 'rate_limit'
  | 'quota'
  | 'auth'
  | 'not_found'
  | 'context_length'
  | 'garbage'
  | 'cut'
  | 'bad_request'

/** What each kind means for the model and for the request. */
interface Consequence {
  /** Counts against the model: enough of these in a row open its circuit. */
  readonly blames: boolean
  /** The same model may answer a little later, so it may be asked once more. */
  readonly passing: boolean
  /** ms for which the model is left alone when its provider does not say. */
  readonly coolDown: number
}

export const consequences: Record<FailureKind, Consequence> = {
  network: { blames: true, passing: true, coolDown: 0 },
  timeout: { blames: true, passing: false, coolDown: 0 },
  server: { blames: true, passing: true, coolDown: 0 },
  rate_limit: { blames: false, passing: false, coolDown: 10_000 },
  quota: { blames: false, passing: false, coolDown: 300_000 },
  auth: { blames: false, passing: false, coolDown: 30_000 },
  // The model may lack one path, such as responses, and serve the others.
  not_found: { blames: false, passing: false, coolDown: 0 },
  context_length: { blames: false, passing: false, coolDown: 0 },
  garbage: { blames: true, passing: true, coolDown: 0 },
  cut: { blames: true, passing: true, coolDown: 0 },
  bad_request: { blames: false, passing: false, coolDown: 0 },
}

export class Failure extends Error {
  override name = 'Failure'
  readonly kind: FailureKind
  /** Status the provider answered with, where it did. */
  readonly status: number | undefined
  /** ms after which the provider wants to be asked again. */
  readonly retryAfter: number | undefined
  /** The provider's own words, for a request that no other model would take either. */
  readonly body: string | undefined

  constructor(
    kind: FailureKind,
    message: string,
    detail: { status?: number; retryAfter?: number | undefined; body?: string } = {},
  ) {
    super(message)
    this.kind = kind
    this.status = detail.status
    this.retryAfter = detail.retryAfter
    this.body = detail.body
  }
}

/** What an answer other than 2xx means. Providers differ in status and agree in words. */
export const failureOf = (
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
  now: number,
): Failure => {
  const said = messageIn(body)
  const text = said.toLowerCase()
  const kind = kindOf(status, text)
  const message = `answered ${status}${said ? `: ${said.slice(0, 300)}` : ''}`
  return new Failure(kind, message, { status, body, retryAfter: retryAfterOf(headers, now) })
}

const kindOf = (status: number, text: string): FailureKind => {
  if (status === 402 || /insufficient[ _]quota|out of credit|credit balance|billing/.test(text))
    return 'quota'
  if (status === 429) return 'rate_limit'
  if (status === 401 || status === 403) return 'auth'
  if (status === 404 || status === 405 || status === 501) return 'not_found'
  if (status === 408) return 'timeout'
  if (status >= 500 || status === 425 || status < 400) return 'server'
  if (
    /context[ _]length|context window|maximum context|too many tokens|prompt is too long/.test(text)
  )
    return 'context_length'
  return 'bad_request'
}

/** The sentence in an error body, whatever its shape. */
const messageIn = (body: string): string => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return body.startsWith('<') ? '' : body.trim() // An error page of a proxy says nothing useful.
  }
  const error = (parsed as { error?: unknown } | null)?.error ?? parsed
  if (typeof error === 'string') return error
  const { message, code, detail } = (error ?? {}) as Record<string, unknown>
  return [message ?? detail, code].filter((part) => typeof part === 'string').join(' ')
}

const retryAfterOf = (headers: IncomingHttpHeaders, now: number): number | undefined => {
  const exact = Number(headers['retry-after-ms'])
  if (Number.isFinite(exact) && exact >= 0) return exact
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
