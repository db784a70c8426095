import { execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createApi } from '#client/client.ts'
import { openAuthority } from '#engines/certificates/authority.ts'
import { createHaproxy } from '#engines/haproxy/engine.ts'
import type { Balancer } from '#engines/haproxy/model.ts'
import { droplets } from '#services/compute/droplets/contract.ts'
import { loadBalancers } from '#services/networking/load-balancers/contract.ts'
import { startCove } from '../test/process.ts'
import { ownAddress } from '../test/site.ts'
import { cpuOf } from './load.ts'
import { median, report } from './measure.ts'

/** Needs haproxy and wrk. */
const folder = mkdtempSync(join(tmpdir(), 'cove-lb-bench-'))
const children: { kill(): unknown }[] = []

/** HAProxy with a configuration written by hand, and the process that does its work. */
const byHand = async (name: string, text: string, url: string): Promise<number> => {
  const file = join(folder, `${name}.cfg`)
  writeFileSync(file, text)
  // A session of its own, as ours has: schedulers share the processor by session.
  const child = spawn('/usr/sbin/haproxy', ['-f', file], { stdio: 'ignore', detached: true })
  children.push(child)
  for (let turn = 0; turn < 100; turn++) {
    if ((await answer(url).catch(() => '')) !== '') break
    await pause(20)
  }
  return child.pid ?? 0
}

const answer = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })

const timeouts = `  timeout connect 5s
  timeout client 60s
  timeout server 60s`

/** Web servers that only say their name: HAProxy itself is quick enough not to be in the way. */
const startSites = async (addresses: readonly string[]): Promise<void> => {
  const sites = addresses.map(
    (address, index) => `frontend site${index}
  bind ${address}:8080
  http-request return status 200 content-type text/plain string site${index}`,
  )
  const text = `global
  nbthread 1
defaults
  mode http
${timeouts}
${sites.join('\n')}
`
  await byHand('sites', text, `http://${addresses[0]}:8080/`)
}

/** Requests answered in a second of traffic. */
const wrk = (url: string): number => {
  const said = execFileSync('wrk', ['-t1', '-c32', '-d1s', url], { encoding: 'utf8' })
  return Number(/(\d+) requests in/.exec(said)?.[1])
}

interface Tally {
  requests: number
  /** ms */
  cpu: number
}

const measure = (url: string, pid: number, tally: Tally): void => {
  const before = cpuOf(pid)
  tally.requests += wrk(url)
  tally.cpu += cpuOf(pid) - before
}

/** The process that serves a configuration, once the one of the configuration before has ended. */
const workerOf = async (config: string): Promise<number> => {
  for (;;) {
    const pids = execFileSync('pgrep', ['-f', config], { encoding: 'utf8' }).trim().split('\n')
    if (pids.length === 2) return Math.max(...pids.map(Number))
    await pause(50)
  }
}

const balancer = (id: string, address: string, targets: readonly string[]): Balancer => ({
  id,
  address,
  listeners: [
    {
      protocol: 'http',
      port: 80,
      targetProtocol: 'http',
      targetPort: 8080,
      passthrough: false,
      certificates: [],
    },
  ],
  targets: targets.map((target, index) => ({ id: String(index), address: target })),
  health: { protocol: 'http', port: 8080, path: '/', interval: 10, timeout: 5, fall: 5, rise: 3 },
  leastConnections: false,
  redirectToHttps: false,
  proxyProtocol: false,
  keepalive: true,
  idleSeconds: 60,
  allow: [],
  deny: [],
  strongCiphers: false,
  mostConnections: 10_000,
})

/** The same traffic through a balancer of ours and through a configuration a person would write. */
const throughput = async (sites: readonly string[]) => {
  const home = join(folder, 'engine')
  const engine = createHaproxy({ home, log: console.error })
  const ours = ownAddress()
  await engine.put(balancer('bench', ours, sites))
  const theirs = ownAddress()
  const hand = `global
  maxconn 100000
  no strict-limits
defaults
  mode http
  timeout http-request 10s
  timeout http-keep-alive 60s
${timeouts}
frontend web
  bind ${theirs}:80
  maxconn 10000
  option forwardfor
  http-request set-header x-forwarded-proto http
  http-request set-header x-forwarded-port 80
  default_backend web
backend web
  balance roundrobin
  option httpchk GET /
  http-reuse safe
${sites.map((site, index) => `  server s${index} ${site}:8080 check inter 10s fall 5 rise 3`).join('\n')}
`
  const handPid = await byHand('hand', hand, `http://${theirs}/`)
  const ourPid = await workerOf(join(home, 'haproxy.cfg'))
  const tallies = { ours: { requests: 0, cpu: 0 }, theirs: { requests: 0, cpu: 0 } }
  for (let round = 0; round < 10; round++) {
    const turns = [
      () => measure(`http://${ours}/`, ourPid, tallies.ours),
      () => measure(`http://${theirs}/`, handPid, tallies.theirs),
    ]
    for (const turn of round % 2 ? turns : turns.reverse()) turn()
  }
  const rate = ({ requests, cpu }: Tally): number => requests / (cpu / 1000)
  await engine.stop()
  return { ours: rate(tallies.ours), theirs: rate(tallies.theirs) }
}

/** ms of one reload with few and with many balancers, measured in turns. */
const reloadTimes = async (counts: readonly [number, number], sites: readonly string[]) => {
  const parties = await Promise.all(
    counts.map(async (count, party) => {
      const engine = createHaproxy({ home: join(folder, `reload-${count}`), log: console.error })
      const all = Array.from({ length: count }, (_, index) => {
        const address = `127.${82 + party}.${Math.floor(index / 250)}.${1 + (index % 250)}`
        return balancer(`b${index}`, address, sites)
      })
      await engine.start(all)
      return { engine, first: all[0], times: [] as number[] }
    }),
  )
  for (let turn = 0; turn < 9; turn++) {
    for (const { engine, first, times } of parties) {
      if (!first) continue
      const begun = performance.now()
      const applied = await engine.put({ ...first, idleSeconds: 61 + turn })
      if (!applied.enforced) throw new Error(applied.reason)
      times.push(performance.now() - begun)
    }
  }
  for (const { engine } of parties) await engine.stop()
  return parties.map(({ times }) => median(times))
}

/** Through the whole of Cove: a target added, and twenty changes under load. */
const changes = async (sites: readonly string[]) => {
  const cove = await startCove(undefined, ['--dns-port', '0'])
  const api = createApi({
    baseUrl: cove.url,
    token: cove.token,
    fetch: (request) => fetch(request),
  })
  const ids: number[] = []
  for (const [index, ip_address] of sites.entries()) {
    ids.push((await api(droplets.create, { body: { name: `s${index}`, ip_address } })).droplet.id)
  }
  const rule = {
    entry_protocol: 'http',
    entry_port: 80,
    target_protocol: 'http',
    target_port: 8080,
  } as const
  const { load_balancer: made } = await api(loadBalancers.create, {
    body: { name: 'bench', region: 'nyc3', droplet_ids: ids.slice(0, 1), forwarding_rules: [rule] },
  })
  const path = { id: made.id }
  let ip = ''
  while (ip === '') {
    ip = (await api(loadBalancers.get, { path })).load_balancer.ip
    await pause(20)
  }
  const second = { path, body: { droplet_ids: ids.slice(1, 2) } }
  const times: number[] = []
  for (let turn = 0; turn < 20; turn++) {
    const begun = performance.now()
    await api(loadBalancers.addDroplets, second)
    while ((await answer(`http://${ip}/`)) !== 'site1');
    times.push(performance.now() - begun)
    await api(loadBalancers.removeDroplets, second)
    // Two answers in a row from the other: it is out again.
    for (let same = 0; same < 4; ) same = (await answer(`http://${ip}/`)) === 'site0' ? same + 1 : 0
  }
  const load = spawn('wrk', ['-t1', '-c16', '-d12s', `http://${ip}/`])
  let said = ''
  load.stdout.on('data', (part) => {
    said += part
  })
  const ended = new Promise((resolve) => load.once('close', resolve))
  for (let turn = 0; turn < 10; turn++) {
    await api(turn % 2 ? loadBalancers.removeDroplets : loadBalancers.addDroplets, second)
    await pause(200)
    await api(loadBalancers.addRules, {
      path,
      body: { forwarding_rules: [{ ...rule, entry_port: 9000 + turn }] },
    })
    await pause(500)
  }
  await ended
  await cove.stop()
  const errors = /Socket errors: .*|Non-2xx.*/.exec(said)?.[0]
  console.log(`  under load: ${/\d+ requests in/.exec(said)?.[0]} 12 s, ${errors ?? 'no error'}`)
  return { added: median(times), failed: errors ? 1 : 0 }
}

/** ms for one certificate of our authority, and for the bare key. */
const issuance = async () => {
  const authority = await openAuthority(join(folder, 'authority'), Date.now)
  const time = (work: () => unknown): number => {
    const times = Array.from({ length: 200 }, () => {
      const begun = performance.now()
      work()
      return performance.now() - begun
    })
    return median(times)
  }
  const options = {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  } as const
  const theirs = time(() => generateKeyPairSync('ec', options))
  const ours = time(() => authority.issue({ names: ['a.example', '*.a.example'], addresses: [] }))
  return { ours, theirs }
}

const sites = [ownAddress(), ownAddress()]
await startSites(sites)
const traffic = await throughput(sites)
const changed = await changes(sites)
const [few = 0, many = 0] = await reloadTimes([10, 1000], sites)
const issued = await issuance()
for (const child of children) child.kill()
rmSync(folder, { recursive: true })

report('Load balancers', [
  {
    what: 'requests per CPU-second, ours to a configuration by hand',
    ...traffic,
    unit: '1/s',
    atLeast: 0.95,
  },
  {
    what: 'target added over the API to effective, p50',
    ours: changed.added,
    theirs: 50,
    unit: 'ms',
    atMost: 1,
  },
  {
    what: 'failing runs of 20 changes under load',
    ours: changed.failed,
    theirs: 1,
    unit: '',
    atMost: 0,
  },
  { what: 'reload with 1,000 balancers to 10', ours: many, theirs: few, unit: 'ms', atMost: 2.5 },
  { what: 'certificate of our authority to a bare key', ...issued, unit: 'ms', atMost: 3 },
])
