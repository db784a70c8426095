import { type Block, formatBlock, widest } from '#core/cidr.ts'
import type { Host, Kind, Link, Network, Part, Rule } from './desired.ts'

/** A part of the table in the kernel: chains with their rules, and elements of sets and maps. */
export interface Pieces {
  chains: Map<string, readonly string[]>
  /** By `set key`. */
  elements: Map<string, Element>
}

export interface Element {
  set: string
  key: string
  /** What a map gives for the key. */
  value?: string
}

/** What one thing of the network is in the kernel, none when it is gone. */
export const piecesOf = (part: Part, network: Network): Pieces => {
  const [kind, name] = part.split(' ') as [Kind, string]
  const pieces: Pieces = { chains: new Map(), elements: new Map() }
  const element = (set: string, key: string, value?: string) =>
    pieces.elements.set(`${set} ${key}`, { set, key, ...(value !== undefined && { value }) })
  const chain = (called: string, rules: readonly string[]) => pieces.chains.set(called, rules)

  if (kind === 'hosts') {
    const host = network.hosts.get(name)
    for (const address of addressesOf(host)) {
      element(address.includes(':') ? 'own6' : 'own4', `"${name}" . ${address}`)
    }
    const before = firewallsBefore(name, network)
    if (before.length === 0) return pieces
    for (const way of ['in', 'out'] as const) {
      chain(`${way}-${name}`, [...before.map((id) => `jump ${chainOf(id, way)}`), 'drop'])
      element(`guarded_${way}`, `"${name}"`, `goto ${way}-${name}`)
    }
  } else if (kind === 'links') {
    const link = network.links.get(name)
    for (const [from, to] of link ? bothWays(link) : []) element('reach', `${from} . ${to}`)
  } else if (kind === 'firewalls') {
    const firewall = network.firewalls.get(name)
    if (!firewall) return pieces
    chain(chainOf(name, 'in'), rulesOf(firewall.inbound, 'saddr'))
    chain(chainOf(name, 'out'), rulesOf(firewall.outbound, 'daddr'))
  } else {
    const translation = network.translations.get(name)
    const host = translation && network.hosts.get(translation.host)
    const own = name.includes(':') ? host?.public6 : host?.public
    if (!own) return pieces
    const family = name.includes(':') ? 6 : 4
    element(`to${family}`, name, own)
    element(`from${family}`, own, name)
  }
  return pieces
}

export const addressesOf = (host: Host | undefined): string[] =>
  host ? [host.private, host.public, host.public6].filter((each) => each !== undefined) : []

/** The firewalls that stand before a host, always in the same order. */
const firewallsBefore = (host: string, { guards }: Network): string[] =>
  [...(guards.get(host) ?? [])].sort()

const chainOf = (firewall: string, way: 'in' | 'out'): string => `fw-${way}-${firewall}`

const bothWays = ({ from, to }: Link): [string, string][] =>
  from === to
    ? [[from, to]]
    : [
        [from, to],
        [to, from],
      ]

/**
 * One rule for each peer. Sets without a name would be shorter, but every one of them costs the
 * kernel a pause and every later change a reading of all of them.
 */
const rulesOf = (rules: readonly Rule[], end: 'saddr' | 'daddr'): string[] => [
  ...new Set(
    rules.flatMap((rule) =>
      widest(rule.peers).map((peer) => `${peerOf(peer, end)}${trafficOf(rule, peer)} accept`),
    ),
  ),
]

const peerOf = (peer: Block, end: string): string => {
  if (peer.bits === 0) return `meta nfproto ipv${peer.family} `
  return `${peer.family === 4 ? 'ip' : 'ip6'} ${end} ${formatBlock(peer)} `
}

const trafficOf = ({ protocol, ports: [first, last] }: Rule, peer: Block): string => {
  if (protocol === 'icmp') return `meta l4proto ${peer.family === 4 ? 'icmp' : 'ipv6-icmp'}`
  if (first === 0 && last === 65_535) return `meta l4proto ${protocol}`
  return `${protocol} dport ${first === last ? first : `${first}-${last}`}`
}
