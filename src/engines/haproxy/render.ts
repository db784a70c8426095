import { createHash } from 'node:crypto'
import { globalSections } from './global.ts'
import type { Balancer, Listener, Target } from './model.ts'
import {
  backendOf,
  bindOf,
  certificateFile,
  checkLines,
  type Draft,
  frontendOf,
  guards,
  hostOf,
  type Places,
  type Section,
  udpBackendOf,
} from './parts.ts'

export const sectionOf = (balancer: Balancer, places: Places): Section => {
  const draft = draftOf(balancer, places)
  const pairs = balancer.listeners.flatMap((listener) => listener.certificates)
  return {
    id: balancer.id,
    shape: draft.lines.join('\n'),
    text: withServers(draft).join('\n'),
    servers: draft.servers,
    certificates: new Map(pairs.map(({ id, pem }) => [certificateFile(places, id), pem])),
    refersTo: balancer.global?.levels.flat().map(({ id }) => id) ?? [],
  }
}

const draftOf = (balancer: Balancer, places: Places): Draft => {
  const draft: Draft = { lines: [], servers: new Map() }
  if (balancer.global) {
    globalSections(balancer, balancer.global, places, draft)
    return draft
  }
  for (const listener of listenersOf(balancer)) {
    if (listener.protocol !== 'udp') draft.lines.push(...frontend(balancer, listener, places))
    const nameOf = listener.protocol === 'udp' ? udpBackendOf : backendOf
    const name = nameOf(balancer.id, listener.port)
    draft.lines.push(...backend(balancer, listener, name))
    draft.servers.set(name, serversOf(balancer, listener))
  }
  return draft
}

const withServers = ({ lines, servers }: Draft): string[] =>
  lines.flatMap((line) => {
    const own = line.startsWith('backend ') ? servers.get(line.slice(8)) : undefined
    if (!own) return [line]
    return [line, ...[...own].map(([name, rest]) => `  server ${name} ${rest}`)]
  })

/** http3 is offered on top of an encrypted listener of the same port; alone it is one itself. */
const listenersOf = ({ listeners }: Balancer): Listener[] =>
  listeners.filter(
    (listener) =>
      listener.protocol !== 'http3' ||
      !listeners.some(
        (other) => other !== listener && other.port === listener.port && isTls(other),
      ),
  )

export const isTls = ({ protocol }: Listener): boolean =>
  protocol === 'https' || protocol === 'http2'

const isTcp = (listener: Listener): boolean =>
  listener.protocol === 'tcp' || listener.protocol === 'udp' || listener.passthrough

const frontend = (balancer: Balancer, listener: Listener, places: Places): string[] => {
  const http = !isTcp(listener)
  return [
    `frontend ${frontendOf(balancer.id, listener.port)}`,
    `  mode ${http ? 'http' : 'tcp'}`,
    `  bind ${bindOf(balancer, listener, places)}`,
    ...guards(balancer),
    ...(http ? httpLines(balancer, listener) : []),
    `  default_backend ${backendOf(balancer.id, listener.port)}`,
  ]
}

const httpLines = (balancer: Balancer, listener: Listener): string[] => [
  `  timeout client ${balancer.idleSeconds}s`,
  // A client that sends its request a byte at a time is not waited for longer than this.
  '  timeout http-request 10s',
  '  option forwardfor',
  `  http-request set-header x-forwarded-proto ${listener.protocol === 'http' ? 'http' : 'https'}`,
  `  http-request set-header x-forwarded-port ${listener.port}`,
  ...(balancer.redirectToHttps && listener.protocol === 'http'
    ? ['  http-request redirect scheme https code 307']
    : []),
]

const backend = (balancer: Balancer, listener: Listener, name: string): string[] => {
  const http = !isTcp(listener)
  return [
    `backend ${name}`,
    `  mode ${http ? 'http' : 'tcp'}`,
    `  balance ${balancer.leastConnections ? 'leastconn' : 'roundrobin'}`,
    ...checkLines(balancer.health),
    ...(http ? [`  timeout server ${balancer.idleSeconds}s`] : []),
    ...(http ? [balancer.keepalive ? '  http-reuse safe' : '  option http-server-close'] : []),
    ...(http && balancer.sticky ? stickyLines(balancer.id, balancer.sticky) : []),
  ]
}

/** Cookies are made from address and a key, so that targets added later have theirs too. */
const stickyLines = (id: string, sticky: { cookie: string; seconds: number }): string[] => [
  `  cookie ${sticky.cookie} insert indirect nocache dynamic attr "Max-Age=${sticky.seconds}"`,
  `  dynamic-cookie-key ${createHash('sha256').update(id).digest('hex').slice(0, 32)}`,
]

const serversOf = (balancer: Balancer, listener: Listener): Map<string, string> =>
  new Map(
    balancer.targets.map((target) => [
      serverName(target),
      `${hostOf(target.address)}:${listener.targetPort} ${serverArgs(balancer, listener)}`,
    ]),
  )

/** A target that moves to another address is another server. */
export const serverName = ({ id, address }: Target): string =>
  `t${id}-${address.replace(/[^\w]/g, '_')}`

export const targetOf = (server: string): string => server.slice(1, server.indexOf('-'))

const serverArgs = (balancer: Balancer, listener: Listener): string => {
  const { health } = balancer
  const tls = !isTcp(listener) && listener.targetProtocol === 'https'
  return [
    `check inter ${health.interval}s fall ${health.fall} rise ${health.rise} port ${health.port}`,
    health.protocol === 'https' ? 'check-ssl' : tls ? 'no-check-ssl' : '',
    tls ? 'ssl' : '',
    tls || health.protocol === 'https' ? 'verify none' : '',
    !isTcp(listener) && listener.targetProtocol === 'http2' ? 'proto h2 check-proto h1' : '',
    balancer.proxyProtocol && listener.protocol !== 'udp' ? 'send-proxy' : '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}
