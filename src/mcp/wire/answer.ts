import {
  isObject,
  type JsonObject,
  modernVersion,
  Rendered,
  RpcError,
  type ServerSpec,
} from '#mcp/protocol.ts'
import type { Id } from '#mcp/wire/message.ts'

/** A finished answer: its text, and the error code when it is a failure. */
export interface Answer {
  text: string
  code?: number
}

/** Results that a 2026-07-28 client may keep, so that they have to say for how long. */
const cacheable = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

const serverInfoKey = 'io.modelcontextprotocol/serverInfo'

/** Writes results by hand: a rendered list of many tools must not be parsed to be sent. */
export const answerWriter = (spec: ServerSpec) => {
  const meta = { [serverInfoKey]: spec.info }
  const complete = '"resultType":"complete"'
  const signature = `"_meta":${JSON.stringify(meta)}`
  const hints = (method: string): string => {
    if (!cacheable.has(method)) return ''
    const { ttlMs, cacheScope } = spec.cache?.[method] ?? { ttlMs: 0, cacheScope: 'private' }
    return `,"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`
  }

  const modern = (method: string, result: JsonObject | Rendered): string => {
    const head = `{${complete}${hints(method)},${signature}`
    if (result instanceof Rendered) return `${head},${result.json.slice(1)}`
    if (result.resultType === 'input_required')
      return JSON.stringify({ ...result, _meta: { ...meta } })
    if (isObject(result._meta))
      return `{${complete}${hints(method)},${JSON.stringify({ ...result, _meta: { ...meta, ...result._meta } }).slice(1)}`
    const body = JSON.stringify(result)
    return body === '{}' ? `${head}}` : `${head},${body.slice(1)}`
  }

  return (id: Id, method: string, version: string, result: JsonObject | Rendered): Answer => {
    const body =
      version === modernVersion
        ? modern(method, result)
        : result instanceof Rendered
          ? result.json
          : JSON.stringify(result)
    return { text: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${body}}` }
  }
}

/** Revisions before 2025-11-25 follow JSON-RPC: an unknown id is null. Later ones leave it out. */
const idIfAny = (id: Id | undefined, version: string): string =>
  id !== undefined ? `"id":${JSON.stringify(id)},` : version < '2025-11-25' ? '"id":null,' : ''

export const failure = (id: Id | undefined, version: string, error: RpcError): Answer => {
  const { code, message, data } = error
  return {
    code,
    text: `{"jsonrpc":"2.0",${idIfAny(id, version)}"error":${JSON.stringify({ code, message, data })}}`,
  }
}

/** What a client may know of any thrown thing: its own mistakes in full, ours as one sentence. */
export const asRpcError = (error: unknown, report: (error: unknown) => void): RpcError => {
  if (error instanceof RpcError) return error
  report(error)
  return new RpcError('internal', 'Something went wrong inside the server; its log tells what.')
}
