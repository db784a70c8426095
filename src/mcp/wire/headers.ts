import { type JsonObject, RpcError } from '#mcp/protocol.ts'

/** Which parameter a 2026-07-28 client repeats as `Mcp-Name`, by method. */
const named: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/** Proxies decide by the headers and we by the body, so the two have to say the same. */
export const checkRoutingHeaders = (headers: Headers, method: string, params: JsonObject): void => {
  agree('Mcp-Method', headers.get('mcp-method'), method)
  const source = named[method]
  if (!source) return
  const value = params[source]
  const given = headers.get('mcp-name')
  if (typeof value === 'string')
    agree('Mcp-Name', given === null ? null : decode('Mcp-Name', given), value)
}

export const checkVersionHeader = (headers: Headers, version: string): void =>
  agree('Mcp-Protocol-Version', headers.get('mcp-protocol-version'), version)

/** Parameters that this server wants repeated, where the client sent them. */
export const checkMirroredHeaders = (headers: Headers, mirrored: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(mirrored)) {
    const given = headers.get(name)
    const said = given === null ? null : decode(name, given)
    if (typeof value === 'number' && said !== null && Number(said) === value) continue
    if (value !== undefined && value !== null) agree(name, said, String(value))
    else if (said !== null)
      throw new RpcError('headerMismatch', `The header ${name} repeats nothing in the body.`)
  }
}

const agree = (name: string, given: string | null, expected: string): void => {
  if (given === expected) return
  const sentence =
    given === null
      ? `The header ${name} is missing; the body says "${clip(expected)}".`
      : `The header ${name} says "${clip(given)}", the body "${clip(expected)}".`
  throw new RpcError('headerMismatch', sentence)
}

const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** Values that a header cannot carry arrive as `=?base64?…?=`. */
const decode = (name: string, value: string): string => {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (encoded === undefined) return value
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') === encoded) return bytes.toString()
  throw new RpcError('headerMismatch', `The header ${name} is not valid base64.`)
}

export const isJson = (headers: Headers): boolean => {
  const type = headers.get('content-type')
  return type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** A client has to take both forms of an answer, since the server chooses. */
export const acceptsBoth = (headers: Headers): boolean => {
  const accept = headers.get('accept')
  if (!accept) return false
  const kinds = accept.split(',').map((kind) => kind.split(';', 1)[0]?.trim().toLowerCase())
  const takes = (family: string, type: string) =>
    kinds.some((kind) => kind === type || kind === family || kind === '*/*')
  return takes('application/*', 'application/json') && takes('text/*', 'text/event-stream')
}
