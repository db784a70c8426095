/** What the network should be: plain data, from which the kernel's state follows. */
export interface Network {
  hosts: Map<string, Host>
  links: Map<string, Link>
  firewalls: Map<string, Firewall>
  translations: Map<string, Translation>
  /** The firewalls before each host, kept as firewalls change, so that no change reads them all. */
  guards: Map<string, Set<string>>
}

/** A small host with a network of its own. Its name is that of its interface: at most 15 letters. */
export interface Host {
  /** Address in a private network. */
  private?: string
  public: string
  public6?: string
}

/** Two private ranges whose hosts may reach each other; a network is linked to itself. */
export interface Link {
  from: string
  to: string
}

/** What is let in and out of hosts; everything else is dropped. */
export interface Firewall {
  inbound: readonly Rule[]
  outbound: readonly Rule[]
  /** Names of the hosts it stands before. */
  hosts: readonly string[]
}

export interface Rule {
  protocol: 'tcp' | 'udp' | 'icmp'
  /** First and last port; 0 to 65535 is all. */
  ports: readonly [first: number, last: number]
  /** Addresses and blocks at the other end. */
  peers: readonly string[]
}

/** An address that stands for a host's own: traffic to it and from the host is translated. */
export interface Translation {
  host: string
}

interface Things {
  hosts: Host
  links: Link
  firewalls: Firewall
  translations: Translation
}
export type Kind = keyof Things

/** Things to put, by name, and to take away (null). */
export type Change = { [K in Kind]?: Record<string, Things[K] | null> }

/** One thing of the network, by kind and name. */
export type Part = `${Kind} ${string}`

export const emptyNetwork = (): Network => ({
  hosts: new Map(),
  links: new Map(),
  firewalls: new Map(),
  translations: new Map(),
  guards: new Map(),
})

const put = <T>(map: Map<string, T>, name: string, thing: T | null): void => {
  if (thing === null) map.delete(name)
  else map.set(name, thing)
}

/** Makes the change, and names every part of the network that it touches. */
export const merge = (network: Network, change: Change): Set<Part> => {
  const touched = new Set<Part>()
  for (const [name, host] of Object.entries(change.hosts ?? {})) {
    put(network.hosts, name, host)
    touched.add(`hosts ${name}`)
    for (const [address, { host: target }] of network.translations) {
      if (target === name) touched.add(`translations ${address}`)
    }
  }
  for (const [name, link] of Object.entries(change.links ?? {})) {
    put(network.links, name, link)
    touched.add(`links ${name}`)
  }
  for (const [name, firewall] of Object.entries(change.firewalls ?? {})) {
    const [before, after] = [network.firewalls.get(name)?.hosts ?? [], firewall?.hosts ?? []]
    put(network.firewalls, name, firewall)
    touched.add(`firewalls ${name}`)
    for (const host of before) if (!after.includes(host)) network.guards.get(host)?.delete(name)
    for (const host of after) {
      const guards = network.guards.get(host) ?? new Set()
      network.guards.set(host, guards.add(name))
    }
    for (const host of [...before, ...after]) touched.add(`hosts ${host}`)
  }
  for (const [name, translation] of Object.entries(change.translations ?? {})) {
    put(network.translations, name, translation)
    touched.add(`translations ${name}`)
  }
  return touched
}

/** Every part of a network. */
export const partsOf = (network: Network): Part[] => [
  ...[...new Set([...network.hosts.keys(), ...network.guards.keys()])].map(
    (name): Part => `hosts ${name}`,
  ),
  ...[...network.links.keys()].map((name): Part => `links ${name}`),
  ...[...network.firewalls.keys()].map((name): Part => `firewalls ${name}`),
  ...[...network.translations.keys()].map((name): Part => `translations ${name}`),
]
