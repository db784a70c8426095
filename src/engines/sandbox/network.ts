import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { findProgram, runProgram } from './machine.ts'

/** What a sandbox may reach: the public internet, or nothing. */
export type NetworkPolicy = 'public' | 'none'

export interface Network {
  /** What sandboxes resolve names with. */
  resolvers: string[]
  /** Connect the network namespace of a process; it disappears with the namespace. */
  attach(pid: number, slot: number): Promise<void>
  close(): Promise<void>
}

/** Never reachable: this host, its neighbours, and whatever is not the public internet. */
const unreachable = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
]
const gateway = '169.254.77.1'
const addressOf = (slot: number) => `198.19.${(slot >> 8) & 255}.${slot & 255}`
const publicResolvers = ['1.1.1.1', '8.8.8.8']

/** The network of sandboxes, or why there is none. */
export const openNetwork = async (label: string): Promise<Network | string> => {
  if (process.getuid?.() !== 0) return 'outbound network needs root, to connect namespaces'
  const ip = findProgram('ip')
  const nft = findProgram('nft')
  const nsenter = findProgram('nsenter')
  if (!ip || !nft || !nsenter) return 'outbound network needs the programs ip, nft and nsenter'
  const uplink = await defaultInterface()
  if (!uplink) return 'this machine has no default route'

  const prefix = `cvf${label.slice(0, 4)}`
  const table = `cove_fn_${label}`
  const resolvers = await hostResolvers()
  await runProgram(nft, ['-f', '-'], rules({ table, prefix, resolvers, neighbours: neighbours() }))
  await writeFile(`/proc/sys/net/ipv4/conf/${uplink}/forwarding`, '1')
  return {
    resolvers,
    attach: async (pid, slot) => {
      const link = prefix + slot.toString(16).padStart(4, '0')
      const address = addressOf(slot)
      await runProgram(
        ip,
        ['-batch', '-'],
        [
          `link add ${link} type veth peer name eth0 netns ${pid}`,
          `addr add ${gateway}/32 dev ${link}`,
          `link set ${link} up`,
          `route add ${address}/32 dev ${link}`,
        ].join('\n'),
      )
      await writeFile(`/proc/sys/net/ipv4/conf/${link}/forwarding`, '1')
      await runProgram(
        nsenter,
        [`--net=/proc/${pid}/ns/net`, ip, '-batch', '-'],
        [
          `addr add ${address}/32 dev eth0`,
          'link set eth0 up',
          `route add ${gateway}/32 dev eth0`,
          `route add default via ${gateway} dev eth0`,
        ].join('\n'),
      )
    },
    close: async () => {
      await runProgram(nft, ['delete', 'table', 'inet', table])
    },
  }
}

const rules = (of: {
  table: string
  prefix: string
  resolvers: string[]
  neighbours: string[]
}): string => {
  const from = `iifname "${of.prefix}*"`
  return `
add table inet ${of.table}
delete table inet ${of.table}
table inet ${of.table} {
  chain input {
    type filter hook input priority -10;
    ${from} drop
  }
  chain forward {
    type filter hook forward priority -10;
    ${from} ip daddr { ${of.resolvers.join(', ')} } meta l4proto { tcp, udp } th dport 53 accept
    ${from} ip daddr { ${[...unreachable, ...of.neighbours].join(', ')} } drop
    ${from} meta nfproto ipv6 drop
    oifname "${of.prefix}*" ct state established,related accept
    oifname "${of.prefix}*" drop
  }
  chain postrouting {
    type nat hook postrouting priority 90;
    ip saddr 198.19.0.0/16 oifname != "${of.prefix}*" masquerade
  }
}
`
}

const defaultInterface = async (): Promise<string | undefined> => {
  const routes = (await readFile('/proc/net/route', 'utf8')).split('\n').slice(1)
  return routes.map((line) => line.split('\t')).find(([, to]) => to === '00000000')?.[0]
}

/** Networks this host is directly on and that are not already closed. */
const neighbours = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ family, cidr }) => (family === 'IPv4' && cidr ? [networkOf(cidr)] : []))
    .filter((cidr, index, all) => all.indexOf(cidr) === index)
    .filter((cidr) => !unreachable.some((closed) => contains(closed, cidr)))

const toNumber = (address: string) =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const sizeOf = (bits: number) => 2 ** (32 - bits)
const parse = (cidr: string) => {
  const [address = '', bits = '32'] = cidr.split('/')
  const size = sizeOf(Number(bits))
  const first = Math.floor(toNumber(address) / size) * size
  return { first, last: first + size - 1, bits }
}
const contains = (outer: string, inner: string) =>
  parse(outer).first <= parse(inner).first && parse(inner).last <= parse(outer).last
const networkOf = (cidr: string) => {
  const { first, bits } = parse(cidr)
  return `${[24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.')}/${bits}`
}

/** The host's own resolvers where a sandbox can reach them, else public ones. */
const hostResolvers = async (): Promise<string[]> => {
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => '')
  const own = [...text.matchAll(/^nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm)]
    .flatMap(([, address]) => address ?? [])
    .filter((address) => !contains('127.0.0.0/8', `${address}/32`))
  return own.length > 0 ? own : publicResolvers
}
