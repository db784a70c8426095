import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHaproxy } from './engine.ts'
import type { Balancer } from './model.ts'

const run = promisify(execFile)
const random = () => Math.floor(Math.random() * 250) + 2
const address = `127.99.${random()}.${random()}`
const closers: (() => unknown)[] = []
let home = ''
let port = 0
let engine: ReturnType<typeof createHaproxy>

const site = (host: string, name: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      response.setHeader('cache-control', 'max-age=60')
      response.end(`${name} ${request.url}`)
    })
    server.on('error', reject)
    server.listen(port, host, () => resolve(server))
  })

const ask = (path = '/', headers: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ host: address, port: 80, path, headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve(`${response.statusCode} ${text}`))
    })
    request.on('error', reject)
  })

const balancer = (change: Partial<Balancer> = {}): Balancer => ({
  id: 'aaaa',
  address,
  listeners: [
    {
      protocol: 'http',
      port: 80,
      targetProtocol: 'http',
      targetPort: port,
      passthrough: false,
      certificates: [],
    },
  ],
  targets: [{ id: '1', address: '127.0.0.1' }],
  health: { protocol: 'http', port, path: '/', interval: 1, timeout: 1, fall: 2, rise: 2 },
  leastConnections: false,
  redirectToHttps: false,
  proxyProtocol: false,
  keepalive: false,
  idleSeconds: 60,
  allow: [],
  deny: [],
  strongCiphers: false,
  mostConnections: 1000,
  ...change,
})

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'cove-haproxy-'))
  const one = await site('127.0.0.1', 'one')
  port = (one.address() as AddressInfo).port
  const two = await site('127.0.0.2', 'two')
  closers.push(
    () => one.close(),
    () => two.close(),
  )
  engine = createHaproxy({ home, log: () => undefined })
  await engine.start([])
})

afterAll(async () => {
  await engine.stop()
  for (const close of closers) close()
  await rm(home, { recursive: true })
})

test('targets come and go without a reload, and nothing fails meanwhile', async () => {
  expect(await engine.put(balancer())).toEqual({ enforced: true })
  expect(await ask('/x')).toBe('200 one /x')
  const failed: string[] = []
  let done = false
  const traffic = (async () => {
    while (!done) {
      const said = await ask().catch(String)
      if (!said.startsWith('200')) failed.push(said)
    }
  })()
  const both = [
    { id: '1', address: '127.0.0.1' },
    { id: '2', address: '127.0.0.2' },
  ]
  const began = performance.now()
  await engine.put(balancer({ targets: both }))
  expect(performance.now() - began).toBeLessThan(1000)
  const seen = new Set<string>()
  for (let turn = 0; turn < 50 && seen.size < 2; turn++) seen.add(await ask())
  expect([...seen].sort()).toEqual(['200 one /', '200 two /'])
  await engine.put(balancer({ targets: both.slice(1) }))
  for (let turn = 0; turn < 4; turn++) expect(await ask()).toBe('200 two /')
  done = true
  await traffic
  expect(failed).toEqual([])
})

test('a bad balancer leaves the working one in force, and says why', async () => {
  await engine.put(balancer())
  const refused = await engine.put(balancer({ deny: ['not-an-address'] }))
  expect(refused).toMatchObject({ enforced: false })
  expect(refused.reason).toContain('not-an-address')
  expect(await ask()).toBe('200 one /')
  const other = await engine.put(balancer({ id: 'bbbb' }))
  expect(other.reason).toContain('cannot be listened on')
  await engine.remove('bbbb')
})

test('HAProxy comes back when it is killed, and is adopted when Cove is', async () => {
  await engine.put(balancer())
  const pids = async () =>
    (await run('pgrep', ['-f', `${home}/haproxy.cfg`])).stdout.trim().split('\n').map(Number)
  const [master = 0] = await pids()
  process.kill(master, 'SIGKILL')
  for (let turn = 0; turn < 100; turn++) {
    const [now = master] = await pids().catch(() => [])
    if (now !== master && (await ask().catch(() => '')) === '200 one /') break
    await pause(50)
  }
  expect(await ask()).toBe('200 one /')
  const before = await pids()
  const second = createHaproxy({ home, log: () => undefined })
  await second.start([balancer()])
  expect(await ask()).toBe('200 one /')
  expect(await pids()).toContain(before[0])
})

test('udp goes through a relay', async () => {
  const echo = createSocket('udp4').on('message', (message, sender) =>
    echo.send(`echo ${message}`, sender.port, sender.address),
  )
  await new Promise<void>((resolve) => echo.bind(port, '127.0.0.1', resolve))
  const listeners = [
    ...balancer().listeners,
    {
      protocol: 'udp' as const,
      port: 5300,
      targetProtocol: 'udp' as const,
      targetPort: port,
      passthrough: false,
      certificates: [],
    },
  ]
  expect(await engine.put(balancer({ listeners }))).toEqual({ enforced: true })
  const client = createSocket('udp4')
  const answer = new Promise<string>((resolve) =>
    client.once('message', (message) => resolve(String(message))),
  )
  client.send('hello', 5300, address)
  expect(await answer).toBe('echo hello')
  client.close()
  echo.close()
})
