import { createSocket, type Socket } from 'node:dgram'
import type { AddressInfo, Server } from 'node:net'
import { answer } from './answer.ts'
import { createLimiter, type RateLimit } from './limit.ts'
import { malformed, readQuery, writeCode, writeTruncated } from './message.ts'
import { rcodes } from './resolve.ts'
import { createTcpServer, type TcpLimits } from './tcp.ts'
import type { Zones } from './zones.ts'

export interface ListenOptions {
  host: string
  /** Tried in order; 0 is any free port. */
  ports: number[]
  rateLimit: RateLimit
  tcp: TcpLimits
}

export interface Listener {
  port: number
  answered: () => number
  close(): Promise<void>
}

/** Serve zones on the first port that is free for UDP and TCP alike. */
export const listen = async (zones: Zones, options: ListenOptions): Promise<Listener> => {
  let problem: unknown
  for (const port of options.ports) {
    // A free port for UDP may be taken for TCP, so the choice of the system is asked again.
    for (let attempt = 0; attempt < (port === 0 ? 5 : 1); attempt++) {
      try {
        return await listenAt(zones, options, port)
      } catch (error) {
        problem = error
      }
    }
  }
  throw problem
}

const listenAt = async (
  zones: Zones,
  options: ListenOptions,
  wanted: number,
): Promise<Listener> => {
  let answered = 0
  const reply = (request: Buffer, transport: 'udp' | 'tcp'): Buffer | undefined => {
    answered++
    try {
      return answer(zones, request, transport)
    } catch {
      return request.length < 12 ? undefined : writeCode(request, undefined, rcodes.failed)
    }
  }
  const udp = createSocket({
    type: options.host.includes(':') ? 'udp6' : 'udp4',
    // Senders are addresses already; the usual look-up would only delay every answer.
    lookup: (address, _options, callback) => callback(null, address, 4),
    recvBufferSize: 1 << 20,
    sendBufferSize: 1 << 20,
  })
  const port = await bound(udp, options.host, wanted)
  const tcp = createTcpServer((request) => reply(request, 'tcp'), options.tcp)
  try {
    await listening(tcp, options.host, port)
  } catch (error) {
    udp.close()
    throw error
  }
  const verdictOf = createLimiter(options.rateLimit)
  udp.on('message', (request, sender) => {
    const verdict = verdictOf(sender.address, performance.now())
    if (verdict === 'drop') return
    const response = verdict === 'answer' ? reply(request, 'udp') : shortened(request)
    if (response) udp.send(response, sender.port, sender.address)
  })
  return {
    port,
    answered: () => answered,
    close: () =>
      new Promise((resolve) => {
        udp.close(() => tcp.close(() => resolve()))
      }),
  }
}

/** A sender that cannot be reached is its own affair: UDP promises nothing. */
const ignore = (): void => undefined

const shortened = (request: Buffer): Buffer | undefined => {
  if (request.length < 12 || request.readUInt16BE(2) & 0x8000) return undefined
  const query = readQuery(request)
  return query === malformed ? undefined : writeTruncated(request, query)
}

const bound = (socket: Socket, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off('error', reject)
      // Errors of single datagrams, such as a refused port far away, must not end the server.
      socket.on('error', ignore)
      resolve(socket.address().port)
    })
  })

const listening = (server: Server, host: string, port: number): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
