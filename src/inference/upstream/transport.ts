import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Readable
}

/** One HTTP request. It fails only before the head of the answer has come. */
export type Send = (
  url: URL,
  request: {
    method: 'GET' | 'POST'
    headers: Record<string, string>
    body?: string
    signal: AbortSignal
  },
) => Promise<Answer>

export interface Transport {
  send: Send
  close(): void
}

/** Over Node's own client, with connections kept open: the shortest way through the process. */
export const createTransport = (): Transport => {
  const options = { keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' as const }
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) }

  const once = (...[url, { method, headers, body, signal }]: Parameters<Send>) =>
    new Promise<Answer>((resolve, reject) => {
      const secure = url.protocol === 'https:'
      const request = (secure ? https : http).request(
        url,
        {
          method,
          agent: secure ? agents['https:'] : agents['http:'],
          headers: body === undefined ? headers : withLength(headers, body),
          signal,
        },
        (incoming) =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: incoming,
          }),
      )
      request.on('error', (error) => {
        const stale = request.reusedSocket && closed.has((error as NodeJS.ErrnoException).code)
        reject(stale ? new StaleConnection() : error)
      })
      request.end(body)
    })

  return {
    // A kept connection may have been closed by the other side in the meantime.
    send: (url, request) =>
      once(url, request).catch((error: unknown) => {
        if (error instanceof StaleConnection && !request.signal.aborted) return once(url, request)
        throw error
      }),
    close: () => {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

const withLength = (headers: Record<string, string>, body: string) => ({
  ...headers,
  'content-length': String(Buffer.byteLength(body)),
})

const closed = new Set<string | undefined>(['ECONNRESET', 'EPIPE'])

class StaleConnection extends Error {
  override message = 'the connection was closed'
}
