import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from './desired.ts'
import type { Holder } from './holder.ts'
import { addressesOf } from './pieces.ts'

/** The router's address on every link: the same everywhere, since each link has two ends only. */
const gateway = '169.254.1.1'
const gateway6 = 'fe80::1'

/** Written on the link as the last step: a host without it was left half made. */
const markOf = (host: Host): string =>
  createHash('sha256')
    .update(JSON.stringify(addressesOf(host)))
    .digest('hex')
    .slice(0, 16)

const routerSide = (name: string): string[] => [
  `netns add ${name}`,
  `link add ${name} type veth peer name eth0 netns ${name}`,
  `address add ${gateway}/32 dev ${name}`,
  `address add ${gateway6}/64 dev ${name} nodad`,
  `link set ${name} up`,
]

const hostSide = (host: Host): string[] => [
  'link set lo up',
  ...addressesOf(host).map((address) =>
    address.includes(':')
      ? `address add ${address}/128 dev eth0 nodad`
      : `address add ${address}/32 dev eth0`,
  ),
  'link set eth0 up',
  `route add ${gateway} dev eth0 scope link`,
  `route add default via ${gateway} dev eth0 src ${host.public}`,
  ...(host.private
    ? ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map(
        (range) => `route add ${range} via ${gateway} dev eth0 src ${host.private}`,
      )
    : []),
  ...(host.public6 ? [`route add default via ${gateway6} dev eth0 src ${host.public6}`] : []),
]

const routesTo = (name: string, host: Host): string[] => [
  ...addressesOf(host).map((address) => `route add ${address} dev ${name}`),
  `link set ${name} alias cove:${markOf(host)}`,
]

/** Makes hosts. Inside is done before routes lead there, and the mark is set at the very end. */
export const makeHosts = async (holder: Holder, hosts: readonly [string, Host][]) => {
  if (hosts.length === 0) return
  const batch = (lines: string[], where = '') =>
    `ip ${where}-batch - <<'END'\n${lines.join('\n')}\nEND\n`
  await holder.run(
    ['sh', '-e'],
    [
      batch(hosts.flatMap(([name]) => routerSide(name))),
      ...hosts.map(([name, host]) => batch(hostSide(host), `-n ${name} `)),
      batch(hosts.flatMap(([name, host]) => routesTo(name, host))),
    ].join(''),
  )
}

/** Takes hosts away with all that runs in them. */
export const removeHosts = async (holder: Holder, names: readonly string[]) => {
  if (names.length === 0) return
  await endProcesses(holder, names)
  const lines = names.flatMap((name) => [
    `ip link del ${name} 2>/dev/null`,
    `ip netns del ${name} 2>/dev/null`,
  ])
  await holder.run(['sh'], `${lines.join('\n')}\ntrue\n`)
}

/** Ends everything that runs in the hosts' networks; what starts meanwhile is found by the next look. */
const endProcesses = async (holder: Holder, names: readonly string[]) => {
  const networks = new Set(names.flatMap((name) => networkOf(holder.namespace(name))))
  for (let inside = processesIn(networks); inside.length > 0; inside = processesIn(networks)) {
    for (const pid of inside) endProcess(pid)
    await sleep(2)
  }
}

const endProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

const processesIn = (networks: ReadonlySet<number>): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => networkOf(`/proc/${pid}/ns/net`).some((network) => networks.has(network)))
    .map(Number)

/** The number by which the kernel knows a network; none when it is gone or not ours to see. */
const networkOf = (file: string): number[] => {
  try {
    return [statSync(file).ino]
  } catch {
    return []
  }
}

/** The hosts there are, by name, with their marks. */
export const listHosts = async (holder: Holder): Promise<Map<string, string>> => {
  const [names, links] = await Promise.all([
    holder.run(['ip', 'netns', 'list']),
    holder.run(['ip', '-o', 'link', 'show', 'type', 'veth']),
  ])
  const marks = new Map(
    [...links.matchAll(/^\d+: ([^@:\s]+).*?alias cove:(\w+)/gm)].map(([, name = '', mark = '']) => [
      name,
      mark,
    ]),
  )
  return new Map(
    names
      .split('\n')
      .map((line) => line.split(' ')[0] ?? '')
      .filter(Boolean)
      .map((name) => [name, marks.get(name) ?? '']),
  )
}

export const isAsWanted = (mark: string | undefined, host: Host): boolean => mark === markOf(host)
