import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Change, Firewall } from '#engines/fabric/desired.ts'
import { createFabric, type Fabric } from '#engines/fabric/fabric.ts'
import { findHolders, holderOf, probe, systemSpawn } from '#engines/fabric/holder.ts'
import { median, percentile, report } from './measure.ts'

/** Networks of instances: how soon a change is in force, and what passing through costs. */

const hostCount = 100
const ruleCount = 20

const firewallOf = (n: number, first = 1000): Firewall => ({
  inbound: Array.from({ length: ruleCount }, (_, at) => ({
    protocol: 'tcp' as const,
    ports: [first + at, first + at + 50] as const,
    peers: [`10.${at}.${n % 250}.0/24`],
  })),
  outbound: [{ protocol: 'tcp', ports: [0, 65_535], peers: ['0.0.0.0/0'] }],
  hosts: [`i${n % hostCount}`],
})

const worldOf = (firewalls: number): Change => ({
  hosts: Object.fromEntries(
    Array.from({ length: hostCount }, (_, n) => [
      `i${n}`,
      { private: `10.1.0.${n + 2}`, public: `198.18.0.${n + 1}`, public6: `2001:2::${n + 1}` },
    ]),
  ),
  links: Object.fromEntries(
    [1, 2, 3].map((n) => [`v${n}`, { from: `10.${n}.0.0/16`, to: `10.${n}.0.0/16` }]),
  ),
  firewalls: Object.fromEntries(
    Array.from({ length: firewalls }, (_, n) => [`f${n}`, firewallOf(n)]),
  ),
})

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const changes = async (fabric: Fabric, firewalls: number, count: number) => {
  const rules: number[] = []
  const peerings: number[] = []
  for (let n = 0; n < count; n++) {
    const name = `f${(n * 37) % firewalls}`
    const changed = firewallOf((n * 37) % firewalls, 3000 + n)
    rules.push(await time(() => fabric.change({ firewalls: { [name]: changed } })))
    const peering = n % 2 === 0 ? { from: '10.2.0.0/16', to: '10.3.0.0/16' } : null
    peerings.push(await time(() => fabric.change({ links: { p: peering } })))
  }
  return { rules, peerings }
}

/** Sends for a second, and tells the seconds of the processor that it took. */
const source = (address: string) => `
  const socket = require('net').connect(5001, '${address}')
  const part = Buffer.alloc(1 << 20)
  const go = () => { while (socket.write(part)); }
  socket.on('drain', go)
  socket.on('connect', () => {
    go()
    setTimeout(() => { socket.removeAllListeners('drain'); socket.end() }, 1000)
  })
  socket.on('close', () => {
    const { user, system } = process.cpuUsage()
    console.log((user + system) / 1e6)
  })`

/** Receives, and tells how many bytes came, in how long, for how much of the processor. */
const sink = (address: string) => `
  require('net').createServer((socket) => {
    let bytes = 0
    const began = Date.now()
    socket.on('data', (data) => (bytes += data.length))
    socket.on('end', () => {
      const { user, system } = process.cpuUsage()
      console.log([bytes, (Date.now() - began) / 1000, (user + system) / 1e6].join(' '))
      process.exit()
    })
  }).listen(5001, '${address}', () => console.log('on'))`

interface Rate {
  /** Bytes in a second. */
  wall: number
  /** Bytes for a second of the processor, of both programs: what other load does not disturb. */
  cpu: number
}

/** From one program to another through the networks they are put in. */
const throughput = async (server: string[], client: string[], address: string): Promise<Rate> => {
  const run = (entry: string[], code: string): ChildProcess => {
    const [program = '', ...args] = [...entry, process.execPath, '-e', code]
    return spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  }
  const said = async ({ stdout }: ChildProcess): Promise<number[]> => {
    if (!stdout) throw new Error('A program has no output.')
    const [text] = await once(stdout, 'data')
    return String(text).trim().split(' ').map(Number)
  }
  const receiving = run(server, sink(address))
  await said(receiving)
  const sending = run(client, source(address))
  const [[bytes = 0, seconds = 1, own = 0], [theirs = 0]] = await Promise.all([
    said(receiving),
    said(sending),
  ])
  return { wall: bytes / seconds, cpu: bytes / (own + theirs) }
}

/** Two networks and a cable, without anything between. */
const plainCable = async (owner: string) => {
  const holder = holderOf(systemSpawn, 'root', findHolders(owner)[0] ?? 0)
  const script = `ip netns add one; ip netns add two
    ip link add cable type veth peer name cable netns two; ip link set cable netns one
    ip -n one addr add 10.250.0.1/24 dev cable; ip -n two addr add 10.250.0.2/24 dev cable
    ip -n one link set cable up; ip -n two link set cable up`
  await holder.run(['sh', '-e', '-c', script])
  const enter = (name: string) => ['nsenter', `--net=${holder.namespace(name)}`, '--']
  return { one: enter('one'), two: enter('two') }
}

const main = async () => {
  const { mode, reason } = await probe(systemSpawn, 'root')
  if (mode === 'none') throw new Error(`This benchmark needs root: ${reason}`)
  const owner = `bench-${process.pid}`
  const open = () => createFabric({ owner, mode: 'root', log: console.error })

  const small = open()
  const made = await time(() => small.start(worldOf(200)))
  const few = await changes(small, 200, 30)
  await small.change({ firewalls: { f0: null, f100: null, f1: null, f101: null } })
  await small.change({ links: { all: { from: '10.1.0.0/16', to: '10.1.0.0/16' } } })

  const cable = await plainCable(owner)
  const [entry, other] = [small.entry('i0') ?? [], small.entry('i1') ?? []]
  const rates: { through: Rate[]; plain: Rate[] } = { through: [], plain: [] }
  for (let n = 0; n < 5; n++) {
    rates.through.push(await throughput(entry, other, '10.1.0.2'))
    rates.plain.push(await throughput(cable.one, cable.two, '10.250.0.1'))
  }

  const adopted = await time(() => open().start(worldOf(200)))
  await small.close()
  const large = open()
  const fromNothing = await time(() => large.start(worldOf(2000)))
  const many = await changes(large, 2000, 30)
  await large.close()
  const again = open()
  const rebuilt = await time(() => again.start(worldOf(200)))
  await again.close()

  const gigabits = (rate: Rate[], kind: keyof Rate) =>
    (median(rate.map((each) => each[kind])) * 8) / 1e9
  report(`Network fabric: ${hostCount} instances, firewalls of ${ruleCount} rules`, [
    bar('firewall change in force, 200 firewalls, p50', median(few.rules), 60, 'ms', 1),
    bar('peering change in force, 200 firewalls, p50', median(few.peerings), 60, 'ms', 1),
    bar(
      'firewall change, p50: 2000 firewalls / 200',
      median(many.rules),
      median(few.rules),
      'ms',
      2,
    ),
    bar('peering change, p50: 2000 / 200', median(many.peerings), median(few.peerings), 'ms', 2),
    bar('rebuild after a crash, all namespaces lost', Math.max(made, rebuilt), 5000, 'ms', 1),
    bar('rebuild after a crash, namespaces adopted', adopted, 5000, 'ms', 1),
    {
      what: 'TCP between two instances / plain veth, per CPU second',
      ours: gigabits(rates.through, 'cpu'),
      theirs: gigabits(rates.plain, 'cpu'),
      unit: 'Gbit',
      atLeast: 0.9,
    },
    {
      what: 'TCP between two instances / plain veth, by the clock',
      ours: gigabits(rates.through, 'wall'),
      theirs: gigabits(rates.plain, 'wall'),
      unit: 'Gbit/s',
    },
  ])
  console.log(
    `  p95 firewall ${percentile(few.rules, 95).toFixed(1)} ms, peering ${percentile(few.peerings, 95).toFixed(1)} ms`,
  )
  console.log(`  2000 firewalls from nothing ${fromNothing.toFixed(0)} ms`)
}

const bar = (what: string, ours: number, theirs: number, unit: string, atMost: number) => ({
  what,
  ours,
  theirs,
  unit,
  atMost,
})

await main()
