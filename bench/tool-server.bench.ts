/**
 * The tool server over HTTP beside the official one: CPU of a list, and calls of a small read. Ours
 * answers from the embedded platform; the official server asks a stub of the API on loopback.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectFile } from '#core/built.ts'
import { cpuOf, load } from './load.ts'
import { median, report } from './measure.ts'
import { peerServer, peerServices } from './peer.ts'

const connections = 10
const ms = 2000
const rounds = 3
const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
const env = { PATH: process.env.PATH, HOME: home, COVE_HOME: home, COVE_RATE_LIMIT: 'off' }

const account = {
  account: {
    uuid: 'a5d2b9a2-1fd2-4f9e-8b35-6a3d1f6a1a11',
    name: 'Owner',
    email: 'owner@example.com',
    email_verified: true,
    status: 'active',
    status_message: '',
    droplet_limit: 200,
    floating_ip_limit: 50,
  },
}

const freePort = async (): Promise<number> => {
  const probe = createSocket().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

const stub = createServer((_request, answer) => {
  answer.setHeader('content-type', 'application/json')
  answer.end(JSON.stringify(account))
}).listen(0, '127.0.0.1')
await once(stub, 'listening')
const stubUrl = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`

const ours = spawn(process.execPath, [projectFile('bin/cove.cjs'), 'up', '--port', '0'], {
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
})
const [said] = await once(ours.stdout, 'data')
const oursUrl = `${/running at (\S+)/.exec(String(said))?.[1]}/mcp`
const token = readFileSync(join(home, 'token'), 'utf8').trim()

const port = await freePort()
const { binary } = peerServer()
if (!binary) throw new Error('The official server has no program for this machine.')
const theirs = spawn(
  binary,
  [
    '-transport',
    'http',
    '-bind-addr',
    `127.0.0.1:${port}`,
    '-digitalocean-api-endpoint',
    stubUrl,
    '-services',
    peerServices,
  ],
  { env: { ...env, DIGITALOCEAN_API_TOKEN: 'none' }, stdio: 'ignore' },
)
const theirsUrl = `http://127.0.0.1:${port}/mcp`
await sleep(1500)

const message = (method: string, params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const headers = (bearer: string) => ({
  authorization: `Bearer ${bearer}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
})

interface Measured {
  perSecond: number
  cpuEach: number
}

const measure = async (
  url: string,
  pid: number,
  bearer: string,
  body: string,
): Promise<Measured> => {
  await load({ url, headers: headers(bearer), body, connections, ms: 3000 })
  const before = cpuOf(pid)
  const { perSecond, requests } = await load({
    url,
    headers: headers(bearer),
    body,
    connections,
    ms,
  })
  return { perSecond, cpuEach: (cpuOf(pid) - before) / requests }
}

const sides = {
  ours: { url: oursUrl, pid: Number(ours.pid), bearer: token },
  theirs: { url: theirsUrl, pid: Number(theirs.pid), bearer: 'none' },
}
const results: Record<string, { ours: Measured[]; theirs: Measured[] }> = {}
try {
  for (let round = 0; round < rounds; round++) {
    for (const [name, body] of [
      ['list', message('tools/list', {})],
      ['call', message('tools/call', { name: 'account-get-information', arguments: {} })],
    ] as const) {
      results[name] ??= { ours: [], theirs: [] }
      for (const side of ['ours', 'theirs'] as const) {
        const { url, pid, bearer } = sides[side]
        results[name][side].push(await measure(url, pid, bearer, body))
      }
    }
  }
} finally {
  ours.kill()
  theirs.kill()
  stub.close()
  await once(ours, 'exit')
  rmSync(home, { recursive: true, force: true })
}

const of = (name: string, side: 'ours' | 'theirs', key: keyof Measured) =>
  median((results[name]?.[side] ?? []).map((one) => one[key]))

report(
  `Tool server over HTTP (${connections} connections, median of ${rounds} rounds of ${ms} ms)`,
  [
    {
      what: 'tools/list: CPU a request',
      ours: of('list', 'ours', 'cpuEach'),
      theirs: of('list', 'theirs', 'cpuEach'),
      unit: 'ms',
      atMost: 0.2,
    },
    {
      what: 'tools/list: requests a second',
      ours: of('list', 'ours', 'perSecond'),
      theirs: of('list', 'theirs', 'perSecond'),
      unit: '/s',
    },
    {
      what: 'tools/call of a small read: requests a second',
      ours: of('call', 'ours', 'perSecond'),
      theirs: of('call', 'theirs', 'perSecond'),
      unit: '/s',
      atLeast: 1,
    },
    {
      what: 'tools/call of a small read: CPU a request',
      ours: of('call', 'ours', 'cpuEach'),
      theirs: of('call', 'theirs', 'cpuEach'),
      unit: 'ms',
    },
  ],
)
