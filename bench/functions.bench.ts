/**
 * Functions: warm calls over the HTTP data plane beside a bare `node:http` echo in a process of its
 * own; first calls beside `node -e 0`; and how all that holds with a thousand functions.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { zipFolder } from '#engines/sandbox/zip.ts'
import { newHome, startCove } from '../test/process.ts'
import { load } from './load.ts'
import { median, percentile, report } from './measure.ts'

const memory = 1536
const payload = JSON.stringify({ name: 'Ada', list: [1, 2, 3] })
const code = 'const main = (a) => a'

const cove = await startCove(newHome(), [], { COVE_FUNCTIONS_MEMORY: String(memory) })
const echo = spawn(
  process.execPath,
  [
    '-e',
    `require('http').createServer((q, a) => {
       let text = ''
       q.on('data', (d) => { text += d })
       q.on('end', () => {
         a.setHeader('content-type', 'application/json')
         a.end(JSON.stringify(JSON.parse(text)))
       })
     }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`,
  ],
  { env: {}, stdio: ['ignore', 'pipe', 'inherit'] },
)
const [port] = await once(echo.stdout, 'data')
const echoUrl = `http://127.0.0.1:${String(port).trim()}/`

const bearer = { authorization: `Bearer ${cove.token}`, 'content-type': 'application/json' }
const made = await fetch(`${cove.url}/v2/functions/namespaces`, {
  method: 'POST',
  headers: bearer,
  body: JSON.stringify({ label: 'bench', region: 'nyc1' }),
})
const { namespace } = (await made.json()) as { namespace: { uuid: string; key: string } }
const headers = {
  authorization: `Basic ${btoa(`${namespace.uuid}:${namespace.key}`)}`,
  'content-type': 'application/json',
}
const plane = (path: string, init: RequestInit = {}) =>
  fetch(`${cove.url}/api/v1/namespaces/_/${path}`, { ...init, headers })
const deploy = async (name: string, text = `${code} // ${name}`) => {
  const body = JSON.stringify({ exec: { kind: 'nodejs:20', code: text } })
  const response = await plane(`actions/${name}?overwrite=true`, { method: 'PUT', body })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
}
const call = async (name: string) => {
  const started = performance.now()
  const response = await plane(`actions/${name}?blocking=true&result=true`, {
    method: 'POST',
    body: payload,
  })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
  return performance.now() - started
}
const url = `${cove.url}/api/v1/namespaces/_/actions/warm?blocking=true&result=true`
const quiet = () => sleep(250)

await deploy('warm')
await call('warm')
const latency: number[][] = [[], []]
const rate: number[][] = [[], []]
// Interleaved, so that a busy moment of the machine meets both.
for (let round = 0; round < 3; round++) {
  const one = { headers, body: payload, connections: 1, ms: 1500 }
  const many = { headers, body: payload, connections: 16, ms: 2000 }
  const results = [
    await load({ ...one, url }),
    await load({ ...one, url: echoUrl }),
    await load({ ...many, url }),
    await load({ ...many, url: echoUrl }),
  ]
  if (round === 0) continue // Compilers warm up.
  latency[0]?.push(median(results[0]?.latencies ?? []))
  latency[1]?.push(median(results[1]?.latencies ?? []))
  rate[0]?.push(results[2]?.perSecond ?? 0)
  rate[1]?.push(results[3]?.perSecond ?? 0)
}

const bareNode = async () => {
  const started = performance.now()
  const env = { PATH: process.env.PATH }
  await once(spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore' }), 'exit')
  return performance.now() - started
}
const node: number[] = []
const claimed: number[] = []
const cold: number[] = []
/** An archive never goes into a sandbox at hand: one is started for it. */
const archive = async (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'cove-bench-'))
  writeFileSync(join(folder, 'index.js'), `exports.main = (a) => a // ${name}`)
  const bytes = await zipFolder(folder)
  rmSync(folder, { recursive: true })
  return bytes.toString('base64')
}
for (let round = 0; round < 12; round++) {
  node.push(await bareNode())
  await deploy(`claim${round}`)
  await deploy(`cold${round}`, await archive(`cold${round}`))
  await quiet()
  claimed.push(await call(`claim${round}`))
  await quiet()
  cold.push(await call(`cold${round}`))
}

const timed = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}
const listing = async () => {
  const times: number[] = []
  for (let round = 0; round < 30; round++)
    times.push(await timed(async () => (await plane('actions?limit=30')).arrayBuffer()))
  return median(times)
}
const creating = async (from: number, to: number) => {
  const ms = await timed(async () => {
    for (let n = from; n < to; n++) await deploy(`many${n}`)
  })
  return ms / (to - from)
}
const createFew = await creating(0, 100)
const listFew = await listing()
await creating(100, 900)
const createMany = await creating(900, 1000)
const listMany = await listing()

/** MB that the sandboxes use now, as the kernel counts. */
const used = (): number => {
  const root = ['/sys/fs/cgroup/memory/cove-functions', '/sys/fs/cgroup/cove-functions'].find(
    existsSync,
  )
  const file = ['memory.usage_in_bytes', 'memory.current']
    .map((name) => join(root ?? '', name))
    .find(existsSync)
  return file ? Number(readFileSync(file, 'utf8')) / 1024 / 1024 : Number.NaN
}
let highest = 0
const spread: number[] = []
const watching = setInterval(() => {
  highest = Math.max(highest, used())
}, 50)
for (let n = 0; n < 1000; n += 2)
  spread.push(...(await Promise.all([0, 1].map((k) => call(`many${n + k}`)))))
clearInterval(watching)

report('Functions', [
  {
    what: 'warm blocking call, p50 / bare node:http echo',
    ours: median(latency[0] ?? []),
    theirs: median(latency[1] ?? []),
    unit: 'ms',
    atMost: 3,
  },
  {
    what: 'warm calls a second, 16 connections / echo',
    ours: median(rate[0] ?? []),
    theirs: median(rate[1] ?? []),
    unit: '/s',
    atLeast: 0.25,
  },
  {
    what: 'first call, sandbox at hand, p50 / node -e 0',
    ours: median(claimed),
    theirs: median(node),
    unit: 'ms',
    atMost: 0.25,
  },
  {
    what: 'first call, sandbox started for it, p50 / node -e 0',
    ours: median(cold),
    theirs: median(node),
    unit: 'ms',
    atMost: 2,
  },
  {
    what: 'creating one of functions 901 to 1000 / 1 to 100',
    ours: createMany,
    theirs: createFew,
    unit: 'ms',
    atMost: 1.5,
  },
  {
    what: 'listing 30 of 1000 functions / of 100',
    ours: listMany,
    theirs: listFew,
    unit: 'ms',
    atMost: 1.5,
  },
  {
    what: 'memory of sandboxes, 1000 functions called / the limit set',
    ours: highest,
    theirs: memory,
    unit: 'MB',
    atMost: 1,
  },
])
console.log(
  `  each of 1000 functions called once: p50 ${median(spread).toFixed(1)} ms, p99 ${percentile(spread, 99).toFixed(1)} ms`,
)
echo.kill()
await cove.stop()
