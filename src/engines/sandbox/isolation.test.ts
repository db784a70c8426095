import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExecAction, Invoker } from './invoker.ts'
import { createSandboxes } from './sandboxes.ts'

/** Code that tries to break out. Every attempt fails, and the host is well. */
const home = mkdtempSync(join(tmpdir(), 'cove-sandbox-'))
const secret = join(home, 'secret.txt')
let sandboxes: Invoker
let server: Server
let port = 0
let touched = 0

beforeAll(async () => {
  writeFileSync(secret, 'the host’s secret')
  server = createServer((_request, response) => {
    touched++
    response.end('reached')
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  port = (server.address() as AddressInfo).port
  sandboxes = createSandboxes({
    home,
    images: join(home, 'images'),
    buildCache: join(home, 'cache'),
    network: 'public',
    isolation: 'required',
    reserve: false,
    pool: { budget: 4096, queue: 100, idle: 60_000, pause: 50 },
    answerBytes: 1024 * 1024,
    now: Date.now,
    log: () => {},
  })
})
afterAll(async () => {
  await sandboxes.close()
  server.close()
  rmSync(home, { recursive: true, force: true })
})

const actionOf = (code: string, more: Partial<ExecAction> = {}): ExecAction => ({
  namespace: 'fn-a',
  owner: 'fn-a',
  name: randomUUID(),
  version: '0.0.1',
  revision: '1',
  kind: 'nodejs:20',
  main: 'main',
  binary: false,
  codeHash: randomUUID(),
  code: async () => code,
  limits: { timeout: 10_000, memory: 256, logs: 1 },
  env: {},
  ...more,
})
const execute = (action: ExecAction, params: object = {}) =>
  sandboxes.execute({ activationId: randomUUID(), transactionId: 't', action, params, apiHost: '' })
const run = async (code: string, params: object = {}, more: Partial<ExecAction> = {}) =>
  (await execute(actionOf(code, more), params)).result as Record<string, unknown>

/** Each line of a shell, with what it printed or the error it died of. */
const shell = (script: string) =>
  run(
    `const { spawnSync } = require('child_process')
     const main = ({ script }) => {
       const { stdout, stderr, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
       return { stdout, stderr, status }
     }`,
    { script },
  )

test('this machine isolates fully; a missing part is named', async () => {
  const isolation = await sandboxes.isolation()
  expect(isolation.reason).toBeUndefined()
  expect(isolation).toMatchObject({ allowed: true, enforced: true })
})

describe('files', () => {
  test('of the host are not there, and what is there cannot be written', async () => {
    const tries = await run(
      `const fs = require('fs')
       const told = (work) => { try { work(); return 'done' } catch (error) { return error.code } }
       const main = ({ secret }) => ({
         root: fs.readdirSync('/').sort(),
         secret: told(() => fs.readFileSync(secret)),
         shadow: told(() => fs.readFileSync('/etc/shadow')),
         home: told(() => fs.readdirSync('/root')),
         sys: told(() => fs.readdirSync('/sys/fs/cgroup')),
         usr: told(() => fs.writeFileSync('/usr/bin/evil', 'x')),
         top: told(() => fs.writeFileSync('/evil', 'x')),
         proxy: told(() => fs.writeFileSync('/cove/node.cjs', 'x')),
         device: told(() => fs.readFileSync('/dev/sda')),
         kernel: told(() => fs.writeFileSync('/proc/sys/kernel/core_pattern', 'x')),
       })`,
      { secret },
    )
    expect(tries).toEqual({
      root: ['bin', 'cove', 'dev', 'etc', 'lib', 'lib64', 'proc', 'sbin', 'tmp', 'usr'],
      secret: 'ENOENT',
      shadow: 'ENOENT',
      home: 'ENOENT',
      sys: 'ENOENT',
      usr: 'EROFS',
      top: 'EROFS',
      proxy: 'EROFS',
      device: 'ENOENT',
      kernel: expect.stringMatching(/EROFS|EACCES|EPERM/),
    })
    expect(existsSync('/usr/bin/evil')).toBe(false)
  })

  test('fill only the sandbox’s own small /tmp', async () => {
    const { written, code } = await run(
      `const fs = require('fs')
       const main = () => {
         let written = 0
         try { for (;;) { fs.appendFileSync('/tmp/big', Buffer.alloc(1e6)); written++ } }
         catch (error) { return { written, code: error.code } }
       }`,
    )
    expect(code).toBe('ENOSPC')
    expect(written).toBeLessThan(70)
  })
})

describe('processes', () => {
  test('of the host are neither seen nor reached', async () => {
    const { stdout } = await shell('ls /proc | grep -E "^[0-9]+$" | wc -l; id -u; hostname')
    const [count, user, host] = String(stdout).trim().split('\n')
    expect(Number(count)).toBeLessThan(10)
    expect([user, host]).toEqual(['1000', 'function'])
    const killed = await shell(`kill -9 ${process.pid} 2>&1; echo $?`)
    expect(killed.stdout).toContain('No such process')
  })

  test('cannot be multiplied without end', async () => {
    const outcome = await execute(
      actionOf(
        `const { spawn } = require('child_process')
         const main = async () => {
           const children = []
           let error
           for (let i = 0; i < 400 && !error; i++) {
             const child = spawn('sleep', ['30'])
             await new Promise((done) => { child.once('spawn', done); child.once('error', (e) => { error = e.code; done() }) })
             children.push(child)
           }
           return { count: children.length, error }
         }`,
        { limits: { timeout: 20_000, memory: 512, logs: 1 } },
      ),
    )
    const { count, error } = outcome.result as { count: number; error: string }
    expect(error).toBe('EAGAIN')
    expect(count).toBeLessThan(128)
    const bomb = await execute(
      actionOf(
        `const main = () => { require('child_process').spawnSync('sh', ['-c', 'f() { f | f & }; f; sleep 5']); return {} }`,
        { limits: { timeout: 1500, memory: 256, logs: 1 } },
      ),
    )
    expect(['timeout', undefined]).toContain(bomb.failure)
    expect(execFileSync('true')).toBeDefined()
  }, 60_000)

  test('use no more memory than their limit, and the kernel’s word for it is told', async () => {
    const outcome = await execute(
      actionOf('const main = () => { const a = []; for (;;) a.push(Buffer.alloc(1e6, 1)) }', {
        limits: { timeout: 10_000, memory: 128, logs: 1 },
      }),
    )
    expect(outcome).toMatchObject({ failure: 'memory', status: 'action developer error' })
  })

  test('do not outlive their call: work left behind stands still, and a daemon goes with its sandbox', async () => {
    const action = actionOf(
      `const fs = require('fs')
       let ticks = 0
       setInterval(() => ticks++, 5)
       const main = ({ daemon }) => {
         if (daemon) require('child_process').spawn('sh', ['-c', 'while :; do echo x >> /tmp/beats; sleep 0.01; done'], { detached: true, stdio: 'ignore' }).unref()
         return { ticks, beats: fs.existsSync('/tmp/beats') ? fs.statSync('/tmp/beats').size / 2 : 0 }
       }`,
    )
    await execute(action, { daemon: true })
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const { ticks, beats } = (await execute(action)).result as { ticks: number; beats: number }
    expect(ticks).toBeLessThan(100)
    expect(beats).toBeLessThan(50)
  })
})

describe('the kernel', () => {
  test('refuses namespaces, mounts, tracing and the like', async () => {
    const script = `
import ctypes, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, *args):
    ctypes.set_errno(0)
    return name, libc.syscall(*args), os.strerror(ctypes.get_errno())
def main(args):
    numbers = args["numbers"]
    tried = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        answer = libc.syscall(number, *args["with"].get(name, [0, 0, 0, 0, 0]))
        tried[name] = os.strerror(ctypes.get_errno()) if answer == -1 else "done"
    try:
        socket.socket(40, socket.SOCK_STREAM)
        tried["vsock"] = "done"
    except OSError as error:
        tried["vsock"] = error.strerror
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        tried["packet"] = "done"
    except OSError as error:
        tried["packet"] = error.strerror
    return tried
`
    const x64 = process.arch === 'x64'
    const numbers = {
      unshare: x64 ? 272 : 97,
      mount: x64 ? 165 : 40,
      umount2: x64 ? 166 : 39,
      ptrace: x64 ? 101 : 117,
      setns: x64 ? 308 : 268,
      bpf: x64 ? 321 : 280,
      keyctl: x64 ? 250 : 219,
      clone: x64 ? 56 : 220,
      io_uring_setup: 425,
      perf_event_open: x64 ? 298 : 241,
      userfaultfd: x64 ? 323 : 282,
    }
    const args = { numbers, with: { unshare: [0x10000000], clone: [0x10000000, 0, 0, 0, 0] } }
    const tried = await run(script, args, { kind: 'python:3.11' })
    const expected = Object.fromEntries(
      Object.keys(numbers).map((name) => [name, 'Operation not permitted']),
    )
    expect(tried).toEqual({
      ...expected,
      vsock: 'Address family not supported by protocol',
      packet: 'Address family not supported by protocol',
    })
    const clone3 = await run(
      'import ctypes, os\ndef main(a):\n  l = ctypes.CDLL(None, use_errno=True)\n  l.syscall(435, 0, 0)\n  return {"e": os.strerror(ctypes.get_errno())}',
      {},
      { kind: 'python:3.11' },
    )
    expect(clone3).toEqual({ e: 'Function not implemented' })
    const tools = await shell('unshare -U true; mount -t tmpfs x /tmp; nsenter -t 1 -n true')
    expect(tools.status).not.toBe(0)
  })

  test('gives no rights, and none can be gained', async () => {
    const { stdout } = await shell(
      'grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status',
    )
    expect(stdout).toContain('CapEff:\t0000000000000000')
    expect(stdout).toContain('NoNewPrivs:\t1')
    expect(stdout).toContain('Seccomp:\t2')
  })
})

describe('between callers', () => {
  test('nothing is shared: not a global, not a file, not an environment', async () => {
    const code = `const fs = require('fs')
      const main = () => {
        const seen = [globalThis.left, process.env.LEFT, fs.existsSync('/tmp/left')]
        globalThis.left = 1; process.env.LEFT = '1'; fs.writeFileSync('/tmp/left', '')
        return { seen }
      }`
    const fresh = { seen: [undefined, undefined, false].map((each) => each ?? null) }
    const first = actionOf(code, { name: 'same' })
    const others = {
      namespace: { ...first, namespace: 'fn-b' },
      owner: { ...first, owner: 'fn-b' },
      action: { ...first, name: 'other' },
      version: { ...first, version: '0.0.2' },
      revision: { ...first, revision: '2' },
    }
    expect((await execute(first)).result).toEqual(fresh)
    expect((await execute(first)).result).toEqual({ seen: [1, '1', true] })
    for (const [what, action] of Object.entries(others))
      expect((await execute(action)).result, what).toEqual(fresh)
  })

  test('an answer that was not asked for ends the sandbox', async () => {
    const action = actionOf(
      `let n = 0
       const main = () => { setTimeout(() => require('fs').writeSync(3, '{"forged":true}\\n'), 1); return { n: ++n } }`,
    )
    expect((await execute(action)).result).toEqual({ n: 1 })
    // The forged line comes when the sandbox gets a processor; whoever calls after it gets a new one.
    const result = async () => (await execute(action)).result
    await expect.poll(result, { interval: 50, timeout: 10_000 }).toEqual({ n: 1 })
  })
})

describe('the network', () => {
  const reach = (urls: string[]) =>
    run(
      `const main = async ({ urls }) => Object.fromEntries(await Promise.all(urls.map(async (url) => {
         try { return [url, await (await fetch(url, { signal: AbortSignal.timeout(1500) })).text()] }
         catch (error) { return [url, 'failed'] }
       })))`,
      { urls },
    )

  test('never leads to this host: not by loopback, not by any of its addresses', async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))
    const urls = ['127.0.0.1', 'localhost', '[::1]', '169.254.77.1', ...own]
      .filter((address) => !address.startsWith('[fe80'))
      .map((address) => `http://${address}:${port}/`)
    const before = touched
    const answers = await reach([...new Set(urls)])
    expect(new Set(Object.values(answers))).toEqual(new Set(['failed']))
    expect(touched).toBe(before)
    // The same server is there for the host itself.
    await new Promise<void>((resolve, reject) =>
      connect(port, '127.0.0.1', resolve).on('error', reject),
    )
  })

  test('leads to public addresses and not to private ones', async () => {
    // Two hosts in a network namespace of our own: one with a public address, one with a private.
    const id = randomUUID().slice(0, 4)
    const space = `cove-test-${id}`
    const link = `cvt${id}`
    const ip = (...args: string[]) => execFileSync('ip', args)
    const hosts = { public: '203.0.113.77', private: '10.213.77.1' }
    ip('netns', 'add', space)
    let web: ReturnType<typeof spawn> | undefined
    try {
      ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
      ip('addr', 'add', '192.0.0.9/32', 'dev', link)
      ip('link', 'set', link, 'up')
      execFileSync('sh', ['-c', `echo 1 > /proc/sys/net/ipv4/conf/${link}/forwarding`])
      for (const address of Object.values(hosts)) {
        ip('route', 'add', `${address}/32`, 'dev', link, 'src', '192.0.0.9')
        ip('-n', space, 'addr', 'add', `${address}/32`, 'dev', 'eth0')
      }
      ip('-n', space, 'link', 'set', 'lo', 'up')
      ip('-n', space, 'link', 'set', 'eth0', 'up')
      ip('-n', space, 'route', 'add', '192.0.0.9/32', 'dev', 'eth0')
      ip('-n', space, 'route', 'add', 'default', 'via', '192.0.0.9', 'dev', 'eth0')
      web = spawn(
        'ip',
        [
          'netns',
          'exec',
          space,
          process.execPath,
          '-e',
          'require("http").createServer((q, a) => a.end("hello")).listen(8000, "0.0.0.0", () => console.log("up"))',
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      await new Promise((resolve) => web?.stdout?.once('data', resolve))
      const urls = Object.values(hosts).map((address) => `http://${address}:8000/`)
      for (const url of urls) expect(await (await fetch(url)).text()).toBe('hello')
      expect(await reach(urls)).toEqual({
        [`http://${hosts.public}:8000/`]: 'hello',
        [`http://${hosts.private}:8000/`]: 'failed',
      })
    } finally {
      web?.kill('SIGKILL')
      ip('netns', 'del', space)
    }
  })
})

test('when all is closed, nothing is left: no process, no control group, no interface, no rule', async () => {
  await sandboxes.close()
  const groups = '/sys/fs/cgroup/memory/cove-functions'
  const label = execFileSync('sh', ['-c', `printf %s ${home} | sha256sum | cut -c1-8`])
    .toString()
    .trim()
  expect(existsSync(join(groups, label))).toBe(false)
  expect(execFileSync('ip', ['-o', 'link']).toString()).not.toContain(`cvf${label.slice(0, 4)}`)
  expect(execFileSync('nft', ['list', 'tables']).toString()).not.toContain(label)
  expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(home)
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(home)
      } catch {
        return false
      }
    })
  expect(running).toEqual([])
})
