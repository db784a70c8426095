/** The vocabulary of the Model Context Protocol that a server is described in. Nothing to load. */
export interface JsonObject {
  [key: string]: unknown
}

/** From this revision on every request stands alone: no handshake, no session. */
export const modernVersion = '2026-07-28'
/** Revisions that open with `initialize`, newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export const protocolVersions = [modernVersion, ...legacyVersions] as const

export interface ServerSpec {
  info: { name: string; title?: string; version: string }
  /** What a model should know before it uses this server. */
  instructions?: string
  /** The revisions served, newest first. */
  versions: readonly string[]
  capabilities: JsonObject
  methods: Record<string, Handler>
  /** How long a client may keep a result (2026-07-28); a listed method that is absent is not kept. */
  cache?: Record<string, CacheHint>
  /** Header names and the parameters that a 2026-07-28 client has to repeat in them. */
  mirrored?(method: string, params: JsonObject): Record<string, unknown>
  /** Receives what went wrong inside a handler; the client is only told that something did. */
  report(error: unknown): void
}

export interface CacheHint {
  ttlMs: number
  /** `public`: the same for every caller. */
  cacheScope: 'public' | 'private'
}

export type Handler = (
  params: JsonObject,
  context: Context,
) => JsonObject | Rendered | Promise<JsonObject | Rendered>

export interface Client {
  info?: JsonObject
  capabilities: JsonObject
}

/** Who is calling over HTTP. Questions and sessions of one principal are never another's. */
export interface Auth {
  principal: string
  token?: string
}

export interface Elicited {
  action: 'accept' | 'decline' | 'cancel'
  content?: JsonObject
}

export interface Context {
  version: string
  client: Client
  auth?: Auth
  /** Of the HTTP request; absent over stdio. */
  headers?: Headers
  id: string | number
  /** The request's `_meta`. */
  meta: JsonObject
  /** Aborts when the client cancels the request or goes away. */
  signal: AbortSignal
  /** Tells the client how far the work is; says nothing when the client did not ask to know. */
  progress(done: number, total?: number, message?: string): void
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: JsonObject): void
  canElicit: boolean
  /**
   * Asks the person a question. In 2026-07-28 the answer arrives with a second request and the
   * handler is run again from its start, so nothing before this call may have side effects. A
   * question with a `key`, unique in its request, may be answered before it is put; without one an
   * answer counts only for the very question it was given to.
   */
  elicit(message: string, requestedSchema: JsonObject, key?: string): Promise<Elicited>
  /** The same for any request a client may answer: sampling, roots. */
  ask(method: string, params: JsonObject, key?: string): Promise<JsonObject>
}

/** An already serialised result, sent as it is. */
export class Rendered {
  readonly json: string

  constructor(json: string) {
    if (!json.startsWith('{"') || json.includes('\n'))
      throw new TypeError('A rendered result is a filled JSON object on one line.')
    this.json = json
  }
}

export const rendered = (json: string): Rendered => new Rendered(json)

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** An error the client is told as it is. */
export class RpcError extends Error {
  override name = 'RpcError'
  readonly code: number
  readonly data?: JsonObject

  constructor(code: keyof typeof errorCodes, message: string, data?: JsonObject) {
    super(message)
    this.code = errorCodes[code]
    if (data) this.data = data
  }
}

/**
 * Thrown by `elicit` and `ask` where the answer comes with a later request (2026-07-28). Let it pass:
 * whatever the handler returns or throws afterwards, the client is sent the question.
 */
export class InputRequired extends RpcError {
  override name = 'InputRequired'

  constructor() {
    super('internal', 'The answer comes with the next request.')
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
