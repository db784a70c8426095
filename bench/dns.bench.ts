import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createApi } from '#client/client.ts'
import { builtFile } from '#core/built.ts'
import { startDnsServer } from '#engines/dns/server.ts'
import { domainRecords, domains } from '#services/networking/domains/contract.ts'
import type { RecordState } from '#services/networking/domains/records.ts'
import { servedZone, zoneFile } from '#services/networking/domains/zone-file.ts'
import { startCove } from '../test/process.ts'
import { cpuOf } from './load.ts'
import { median, percentile, report } from './measure.ts'

/** Needs dnsperf and, for the comparison, pdns-server with pdns-backend-bind. */
const folder = mkdtempSync(join(tmpdir(), 'cove-dns-bench-'))
const seconds = 3

const zoneState = (n: number) => ({ name: `z${n}.test`, ttl: 1800, serial: 1 })

const recordsOf = (domain: string): RecordState[] => {
  const plain = {
    priority: null,
    port: null,
    weight: null,
    flags: null,
    tag: null,
    ttl: 1800,
    domain,
  }
  return [
    { ...plain, id: 1, type: 'NS', name: '@', data: 'ns1.cove.internal' },
    { ...plain, id: 2, type: 'A', name: '@', data: '192.0.2.1' },
    { ...plain, id: 3, type: 'A', name: 'www', data: '192.0.2.2' },
    { ...plain, id: 4, type: 'MX', name: '@', data: 'mail', priority: 10 },
    { ...plain, id: 5, type: 'A', name: 'mail', data: '192.0.2.3' },
    { ...plain, id: 6, type: 'TXT', name: '@', data: 'v=spf1 -all' },
    { ...plain, id: 7, type: 'A', name: '*.w', data: '192.0.2.4' },
  ]
}

/** A file of questions: addresses, mail, wildcards and names that do not exist. */
const questions = (zones: number): string => {
  const file = join(folder, `questions-${zones}`)
  const lines: string[] = []
  for (let n = 0; n < 6000; n++) {
    const zone = `z${(n * 7) % zones}.test`
    lines.push([`www.${zone} A`, `${zone} MX`, `nope.${zone} A`, `x${n}.w.${zone} A`][n % 4] ?? '')
  }
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** Answers for each CPU-second of the server. */
const rate = (port: number, pid: number, zones: number): number => {
  const run = (time: number) =>
    execFileSync(
      'dnsperf',
      [
        '-s',
        '127.0.0.1',
        '-p',
        String(port),
        '-d',
        questions(zones),
        '-l',
        String(time),
        '-c',
        '4',
        '-q',
        '100',
      ],
      { encoding: 'utf8' },
    )
  run(1)
  const before = cpuOf(pid)
  const completed = Number(/Queries completed:\s+(\d+)/.exec(run(seconds))?.[1])
  return completed / ((cpuOf(pid) - before) / 1000)
}

const ours = async (zones: number): Promise<number> => {
  const server = await startDnsServer({
    host: '127.0.0.1',
    ports: [0],
    load: async () =>
      Array.from({ length: zones }, (_, n) => servedZone(zoneState(n), recordsOf(`z${n}.test`))),
    startThread: (workerData) => new Worker(builtFile('dns.worker.js'), { workerData }),
    log: console.error,
  })
  const answers = rate(server.port, process.pid, zones)
  await server.close()
  return answers
}

/** PowerDNS with the same zones in memory, read from the files that our API gives out. */
const powerDns = async (zones: number): Promise<number | undefined> => {
  if (spawnSync('pdns_server', ['--version']).error) return undefined
  const home = join(folder, 'pdns')
  mkdirSync(home)
  const entries: string[] = []
  for (let n = 0; n < zones; n++) {
    const file = join(home, `z${n}`)
    writeFileSync(file, zoneFile(zoneState(n), recordsOf(`z${n}.test`)))
    entries.push(`zone "z${n}.test" { type master; file "${file}"; };`)
  }
  writeFileSync(join(home, 'named.conf'), entries.join('\n'))
  const port = 40_000 + Math.floor(Math.random() * 10_000)
  const settings = {
    launch: 'bind',
    'bind-config': join(home, 'named.conf'),
    'local-address': '127.0.0.1',
    'local-port': port,
    'socket-dir': home,
    'receiver-threads': 1,
    'distributor-threads': 1,
  }
  const text = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
  writeFileSync(join(home, 'pdns.conf'), `${text.join('\n')}\n`)
  const child = spawn('pdns_server', [`--config-dir=${home}`, '--guardian=no', '--daemon=no'], {
    stdio: 'ignore',
  })
  try {
    for (let turn = 0; turn < 100; turn++) {
      const dig = ['@127.0.0.1', '-p', String(port), '+short', '+tries=1', '+time=1', 'www.z1.test']
      if (spawnSync('dig', dig, { encoding: 'utf8' }).stdout.includes('192.0.2.2')) break
      await pause(100)
    }
    return rate(port, child.pid ?? 0, zones)
  } finally {
    child.kill()
  }
}

/** ms from the request that creates a record until DNS answers it, with 1,000 zones. */
const propagation = async (): Promise<number[]> => {
  const cove = await startCove(undefined, ['--dns-port', '0'])
  const api = createApi({
    baseUrl: cove.url,
    token: cove.token,
    fetch: (request) => fetch(request),
  })
  for (let n = 0; n < 1000; n++) await api(domains.create, { body: { name: `z${n}.test` } })
  const response = await fetch(`${cove.url}/v2/cove/status`, {
    headers: { authorization: `Bearer ${cove.token}` },
  })
  const { dns } = (await response.json()) as { dns: { port: number } }
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const domain = `z${(n * 13) % 1000}.test`
    const begun = performance.now()
    const body = { type: 'A', name: `r${n}`, data: '192.0.2.9' }
    await api(domainRecords.create, { path: { domain }, body })
    await answered(dns.port, `r${n}.${domain}`)
    times.push(performance.now() - begun)
  }
  await cove.stop()
  return times
}

const answered = async (port: number, name: string): Promise<void> => {
  const head = Buffer.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`))
  const question = Buffer.concat([head, ...labels, Buffer.from([0, 0, 1, 0, 1])])
  const socket = createSocket('udp4')
  for (let found = 0; found === 0; ) {
    socket.send(question, port, '127.0.0.1')
    const answer = await new Promise<Buffer>((resolve) => socket.once('message', resolve))
    found = answer.readUInt16BE(6)
  }
  socket.close()
}

const few = await ours(10)
const some = await ours(1000)
const many = await ours(10_000)
const theirs = await powerDns(1000)
const times = await propagation()
rmSync(folder, { recursive: true })

report('DNS', [
  {
    what: 'record created over the API to answered, p50 (1,000 zones)',
    ours: median(times),
    theirs: 10,
    unit: 'ms',
    atMost: 1,
  },
  { what: 'the same, p95', ours: percentile(times, 95), theirs: 10, unit: 'ms' },
  ...(theirs === undefined
    ? []
    : [
        {
          what: 'answers per CPU-second, ours to PowerDNS (1,000 zones)',
          ours: some,
          theirs,
          unit: '1/s',
          atLeast: 0.25,
        },
      ]),
  {
    what: 'answers per CPU-second, 10,000 zones to 10',
    ours: many,
    theirs: few,
    unit: '1/s',
    atLeast: 0.7,
  },
])
