import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Readable
}

export interface Sending {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string
  /** Gets the means to break the request off, at any time until the answer has been read. */
  readonly breakable: (breakOff: (why: Error) => void) => void
}

/** One HTTP request. It fails only before the head of the answer has come. */
export type Send = (url: string, sending: Sending) => Promise<Answer>

export interface Transport {
  send: Send
  close(): void
}

/** Over Node's own client, with connections kept open: the shortest way through the process. */
export const createTransport = (): Transport => {
  const options = { keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' as const }
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) }

  const addresses = new Map<string, Address>()
  const addressOf = (url: string): Address => {
    const known = addresses.get(url)
    if (known) return known
    if (addresses.size >= mostAddresses) addresses.clear()
    const address = addressIn(url)
    addresses.set(url, address)
    return address
  }

  const once = (url: string, { method, headers, body, breakable }: Sending, again: boolean) =>
    new Promise<Answer>((resolve, reject) => {
      const address = addressOf(url)
      const secure = address.protocol === 'https:'
      const request = (secure ? https : http).request(
        {
          ...address,
          method,
          agent: secure ? agents['https:'] : agents['http:'],
          headers: body === undefined ? headers : withLength(headers, body),
        },
        (incoming) =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: incoming,
          }),
      )
      let broken = false
      breakable((why) => {
        broken = true
        request.destroy(why)
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        // A kept connection may have been closed by the other side in the meantime.
        const stale = request.reusedSocket && closed.has(error.code) && !broken
        if (stale && again) resolve(once(url, { method, headers, body, breakable }, false))
        else reject(error)
      })
      request.end(body)
    })

  return {
    send: (url, sending) => once(url, sending, true),
    close: () => {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

interface Address {
  protocol: string
  hostname: string
  port: string
  path: string
  auth?: string
}

/** Addresses whose parts are remembered; providers have a handful. */
const mostAddresses = 1000

const addressIn = (text: string): Address => {
  const url = new URL(text)
  return {
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (url.protocol === 'https:' ? '443' : '80'),
    path: url.pathname + url.search,
    ...(url.username ? { auth: decodeURIComponent(`${url.username}:${url.password}`) } : {}),
  }
}

const withLength = (headers: Record<string, string>, body: string) => ({
  ...headers,
  'content-length': String(Buffer.byteLength(body)),
})

const closed = new Set<string | undefined>(['ECONNRESET', 'EPIPE'])

/** The whole body as text; longer than `limit` bytes is an error. */
export const readText = (body: Readable, limit: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    body.on('data', (part: Buffer) => {
      size += part.length
      parts.push(part)
      if (size > limit) body.destroy(new Error(`the answer is longer than ${limit} bytes`))
    })
    body.on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
    body.on('error', reject)
    // An answer that is broken off ends without an error of its own.
    body.on('close', () => reject(new Error('the connection was closed')))
  })
