/** The one error of the product: what the v2 API answers, what a tool tells, what a command prints. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly id: string
  /** The request that failed, as the server named it. */
  readonly requestId?: string
  /** Seconds after which the same call may succeed. */
  readonly retryAfter?: number
  /** What the token must be allowed to do. */
  readonly scope?: string

  constructor(status: number, message: string, detail: Detail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.status = status
    this.id = detail.id ?? errorIds[status] ?? (status >= 500 ? 'server_error' : 'bad_request')
    if (detail.requestId !== undefined) this.requestId = detail.requestId
    if (detail.retryAfter !== undefined) this.retryAfter = detail.retryAfter
    if (detail.scope !== undefined) this.scope = detail.scope
  }

  /** The body is not what the operation takes. */
  static badRequest = (message: string) => new ApiError(400, message)
  static unauthorized = (message = 'Unable to authenticate you.') => new ApiError(401, message)
  static forbidden = (message: string) => new ApiError(403, message)
  /** `what` reads as a subject: `Domain example.com`. */
  static notFound = (what: string) => new ApiError(404, `${what} was not found.`)
  static conflict = (message: string) => new ApiError(409, message)
  /** The input is well-formed, but breaks a rule. */
  static invalid = (message: string) => new ApiError(422, message)
  static tooMany = (message: string, retryAfter: number) =>
    new ApiError(429, message, { retryAfter })
  /** The operation exists in the public API; this platform does not serve it. */
  static notServed = (message: string) => new ApiError(501, message)
  static unavailable = (message: string, cause?: unknown) => new ApiError(503, message, { cause })
}

interface Detail {
  id?: string
  requestId?: string
  retryAfter?: number
  scope?: string
  cause?: unknown
}

const errorIds: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'payload_too_large',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  501: 'not_implemented',
  503: 'service_unavailable',
}

/** The sentence a person should read about any thrown thing. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
