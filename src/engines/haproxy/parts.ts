import { join } from 'node:path'
import type { Balancer, Health, Listener } from './model.ts'

/** Where the rendered configuration finds its files. */
export interface Places {
  /** Keys and sockets, in memory. */
  runtime: string
  /** What may be on disk. */
  home: string
}

export const frontendOf = (id: string, port: number): string => `f.${id}.${port}`
export const backendOf = (id: string, port: number): string => `b.${id}.${port}`
/** A backend nobody forwards to through HAProxy, which only checks its health. */
export const udpBackendOf = (id: string, port: number): string => `u.${id}.${port}`
export const certificateFile = (places: Places, id: string): string =>
  join(places.runtime, 'certificates', `${id}.pem`)
export const generationFile = (places: Places): string => join(places.home, 'generations.map')

/** What a section is made from. */
export interface Draft {
  lines: string[]
  servers: Map<string, Map<string, string>>
}

/** One part for each balancer, so that a bad one can be found and left out. */
export interface Section {
  id: string
  /** Its part of the file without the servers: what only a reload can change. */
  shape: string
  /** Its whole part of the file. */
  text: string
  servers: Map<string, Map<string, string>>
  certificates: Map<string, string>
  /** Balancers whose backends it asks about. */
  refersTo: string[]
}

/** Who may connect, and how many at once. */
export const guards = (balancer: Balancer): string[] => [
  `  maxconn ${balancer.mostConnections}`,
  ...balancer.deny.map((source) => `  acl denied src ${source}`),
  ...balancer.allow.map((source) => `  acl allowed src ${source}`),
  ...(balancer.deny.length > 0 ? ['  tcp-request connection reject if denied'] : []),
  ...(balancer.allow.length > 0 ? ['  tcp-request connection reject if !allowed'] : []),
]

export const bindOf = (balancer: Balancer, listener: Listener, places: Places): string => {
  const where = `${balancer.address}:${listener.port}`
  const encrypts = listener.protocol.startsWith('http') && listener.protocol !== 'http'
  if (!encrypts || listener.passthrough) return where
  const files = listener.certificates.map(({ id }) => `crt ${certificateFile(places, id)}`)
  const alpn = listener.protocol === 'https' ? 'http/1.1' : 'h2,http/1.1'
  const strong = balancer.strongCiphers ? ` ciphers ${strongCiphers} no-tls-tickets` : ''
  return `${where} ssl ${files.join(' ')} alpn ${alpn} ssl-min-ver TLSv1.2${strong}`
}

/** Forward secrecy and authenticated encryption only. */
const strongCiphers = 'ECDHE+AESGCM:ECDHE+CHACHA20'

export const checkLines = (health: Health): string[] => [
  `  timeout check ${health.timeout}s`,
  ...(health.protocol === 'tcp'
    ? []
    : [
        '  option httpchk',
        `  http-check send meth GET uri ${health.path} ver HTTP/1.1 hdr host cove hdr connection close`,
        '  http-check expect status 200-399',
      ]),
]

export const hostOf = (address: string): string =>
  address.includes(':') ? `[${address}]` : address
