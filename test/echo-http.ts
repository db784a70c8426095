import { type HttpOptions, serveHttp } from '#mcp/http.ts'
import type { Auth, JsonObject } from '#mcp/protocol.ts'
import { echoServer } from './echo.ts'

export const url = 'http://localhost/mcp'
export const both = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

/** The server behind its HTTP transport, without a network. */
export const startEcho = (options: HttpOptions & { versions?: readonly string[] } = {}) => {
  const { spec, diary } = echoServer(options.versions)
  const handle = serveHttp(spec, options)
  const post = (body: unknown, headers: Record<string, string> = {}, auth?: Auth) =>
    handle(
      new Request(url, {
        method: 'POST',
        headers: { ...both, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
      auth ? { auth } : {},
    )
  const ask = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await post(body, headers)
    const answer = (await response.json()) as JsonObject
    return { ...answer, status: response.status } as JsonObject
  }
  return { handle, post, ask, diary, spec }
}

export const request = (method: string, params?: JsonObject, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params ? { params } : {}),
})
export const calling = (name: string, args: JsonObject = {}, rest: JsonObject = {}) =>
  request('tools/call', { name, arguments: args, ...rest })

/** The headers a 2026-07-28 client sends with a message. */
export const modern = (message: JsonObject): Record<string, string> => {
  const { name } = (message.params ?? {}) as JsonObject
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': String(message.method),
    ...(name ? { 'mcp-name': String(name) } : {}),
  }
}

export const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content[0]?.text
