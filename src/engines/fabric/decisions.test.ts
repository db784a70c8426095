import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Agent, type LabMode, labModes, sendAgent, spawnOf } from '../../../test/fabric/lab.ts'
import type { Firewall, Host, Rule } from './desired.ts'
import { createFabric } from './fabric.ts'

/** Random firewalls, judged packet by packet by the kernel and by a few lines that say what is right. */
const modes = await labModes()

test.each(modes.impossible)('mode $mode COULD NOT BE TRIED here: $reason', ({ reason }) => {
  expect(reason).not.toBe('')
})

const hosts: Record<string, Host> = Object.fromEntries(
  [1, 2, 3, 4].map((n) => [
    `h${n}`,
    { private: `10.9.0.${n + 1}`, public: `198.18.9.${n}`, public6: `2001:2::9:${n}` },
  ]),
)
const names = Object.keys(hosts)
const ports = [1000, 1001, 1050, 1099, 1100, 2000, 2001, 3000]

/** The same numbers in every run. */
const dice = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const randomFirewall = (roll: ReturnType<typeof dice>): Firewall => {
  const pick = <T>(from: readonly T[]): T => from[roll(from.length)] as T
  const peers = [
    '0.0.0.0/0',
    '::/0',
    '10.9.0.0/30',
    '10.9.0.4/31',
    '10.9.0.0/16',
    '10.9.0.0/29',
    '0.0.0.0/0',
    '::/0',
    '198.18.9.0/30',
    '2001:2::9:0/126',
    ...Object.values(hosts).flatMap((host) => [host.private ?? '', host.public6 ?? '']),
  ]
  const rule = (): Rule => {
    const first = pick([0, ...ports])
    return {
      protocol: pick(['tcp', 'udp', 'udp', 'icmp']),
      ports: first === 0 ? [0, 65_535] : [first, first + pick([0, 0, 1, 60, 1100])],
      peers: Array.from({ length: 1 + roll(3) }, () => pick(peers)),
    }
  }
  const rules = () => Array.from({ length: 2 + roll(8) }, rule)
  return { inbound: rules(), outbound: rules(), hosts: names.filter(() => roll(3) === 0) }
}

const bits = (address: string): string =>
  address.includes(':')
    ? [...groups(address)].map((group) => group.toString(2).padStart(16, '0')).join('')
    : address
        .split('.')
        .map((part) => Number(part).toString(2).padStart(8, '0'))
        .join('')
const groups = (address: string): number[] => {
  const [head = '', tail = ''] = address.split('::')
  const read = (text: string) =>
    text ? text.split(':').map((part) => Number.parseInt(part, 16)) : []
  const [before, after] = [read(head), read(tail)]
  return [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
}
const within = (address: string, block: string): boolean => {
  const [base = '', length] = block.split('/')
  if (base.includes(':') !== address.includes(':')) return false
  const prefix = bits(base).slice(0, length === undefined ? undefined : Number(length))
  return bits(address).startsWith(prefix)
}

interface Packet {
  from: string
  to: string
  source: string
  target: string
  protocol: Rule['protocol']
  port: number
}

/** What is right: each end is asked, and any of its firewalls may say yes. */
const passes = (packet: Packet, firewalls: readonly Firewall[]): boolean => {
  const asked = (host: string, way: 'inbound' | 'outbound', peer: string) => {
    const before = firewalls.filter((each) => each.hosts.includes(host))
    const fits = ({ protocol, ports: [first, last], peers }: Rule) =>
      protocol === packet.protocol &&
      (protocol === 'icmp' || (packet.port >= first && packet.port <= last)) &&
      peers.some((block) => within(peer, block))
    return before.length === 0 || before.some((each) => each[way].some(fits))
  }
  return asked(packet.from, 'outbound', packet.target) && asked(packet.to, 'inbound', packet.source)
}

const packetsOf = (): Packet[] =>
  names.flatMap((from) =>
    names
      .filter((to) => to !== from)
      .flatMap((to) =>
        (['private', 'public6'] as const).flatMap((kind) => {
          const ends = {
            from,
            to,
            source: hosts[from]?.[kind] ?? '',
            target: hosts[to]?.[kind] ?? '',
          }
          return [
            ...ports.map((port) => ({ ...ends, port, protocol: 'udp' as const })),
            ...ports.slice(0, 4).map((port) => ({ ...ends, port, protocol: 'tcp' as const })),
            { ...ends, port: 0, protocol: 'icmp' as const },
          ]
        }),
      ),
  )

/** ms after which a connection counts as dropped; long, since a busy machine answers late. */
const wait = 1200

const acts = { udp: 'shower', tcp: 'tcps', icmp: 'pings' }
const idOf = (packet: Packet) => Object.values(packet).join(' ')

describe.each(modes.possible)('in mode %s', (mode: LabMode) => {
  test('random rules decide as they say', { timeout: 120_000 }, async () => {
    const owner = `decisions-${mode}-${process.pid}`
    const fabric = createFabric({ owner, mode, log: () => {}, spawn: spawnOf(mode) })
    const link = { from: '10.9.0.0/16', to: '10.9.0.0/16' }
    await fabric.start({ hosts, links: { all: link } })
    const agents = new Map<string, Agent>(
      names.map((name) => [name, sendAgent(mode, fabric.entry(name) ?? [])]),
    )
    for (const [name, agent] of agents) {
      const own = [hosts[name]?.private, hosts[name]?.public6]
      await agent.ask('collect', { ports: own.flatMap((at) => ports.map((port) => [at, port])) })
    }
    const packets = packetsOf()
    const roll = dice(20_261_115)
    let decisions = 0
    let allowed = 0
    for (let round = 0; round < 8; round++) {
      const firewalls = Object.fromEntries(
        ['one', 'two', 'three'].map((name) => [name, randomFirewall(roll)]),
      )
      await fabric.change({ firewalls })
      const passed = new Set<string>()
      await Promise.all(
        [...agents].flatMap(([name, agent]) =>
          Object.entries(acts).map(async ([protocol, act]) => {
            const own = packets.filter((p) => p.from === name && p.protocol === protocol)
            const list = own.map((packet) => [packet.target, packet.port, idOf(packet)])
            const got = await agent.ask<string[]>(act, { ports: list, local: 20_000 + round, wait })
            if (protocol !== 'udp') for (const id of got) passed.add(id)
          }),
        ),
      )
      await sleep(100)
      for (const agent of agents.values()) {
        for (const id of await agent.ask<string[]>('arrived')) passed.add(id)
      }
      const wrong = packets
        .filter((packet) => passed.has(idOf(packet)) !== passes(packet, Object.values(firewalls)))
        .map((packet) => `${idOf(packet)} ${passed.has(idOf(packet)) ? 'passed' : 'did not pass'}`)
      expect(wrong, JSON.stringify(firewalls)).toEqual([])
      decisions += packets.length
      allowed += passed.size
    }
    await Promise.all([...agents.values()].map((agent) => agent.end()))
    await fabric.close()
    expect(decisions).toBeGreaterThanOrEqual(2000)
    expect(allowed).toBeGreaterThan(decisions / 10)
    expect(allowed).toBeLessThan((decisions * 9) / 10)
  })
})
