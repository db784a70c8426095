import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openGroups } from './cgroup.ts'
import type { ExecAction } from './invoker.ts'
import { findProgram } from './machine.ts'
import { createSandboxes, type SandboxSettings } from './sandboxes.ts'
import { seccompFilter } from './seccomp.ts'
import { unzip, zipFolder } from './zip.ts'

const home = mkdtempSync(join(tmpdir(), 'cove-sandboxes-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const open = (name: string, more: Partial<SandboxSettings> = {}) => {
  const folder = join(home, name)
  mkdirSync(folder, { recursive: true })
  return createSandboxes({
    home: folder,
    images: join(folder, 'images'),
    buildCache: join(folder, 'cache'),
    network: 'none',
    isolation: 'required',
    reserve: false,
    pool: { budget: 1024, queue: 2, idle: 60_000, pause: 100 },
    answerBytes: 1024 * 1024,
    now: Date.now,
    log: () => {},
    ...more,
  })
}
const actionOf = (code: string, more: Partial<ExecAction> = {}): ExecAction => ({
  namespace: 'fn-a',
  owner: 'fn-a',
  name: 'action',
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
const request = (action: ExecAction, params: object = {}) => ({
  activationId: randomUUID(),
  transactionId: 't',
  action,
  params,
  apiHost: '',
})

describe('where isolation is impossible', () => {
  const find = (name: string) => (name === 'bwrap' ? undefined : findProgram(name))

  test('functions are refused, with what is missing', async () => {
    const sandboxes = open('refused', { find })
    const call = sandboxes.execute(request(actionOf('const main = () => ({})')))
    await expect(call).rejects.toThrow(/cannot be isolated: the program bwrap is missing/)
    expect(sandboxes.outlook()).toMatchObject({ allowed: false, enforced: false })
    await sandboxes.close()
  })

  test('they run all the same when the operator says so, and nobody claims more', async () => {
    const sandboxes = open('best-effort', { find, isolation: 'best-effort' })
    const code = 'const main = () => ({ user: process.getuid(), env: Object.keys(process.env) })'
    const { result } = await sandboxes.execute(request(actionOf(code)))
    const { user, env } = result as { user: number; env: string[] }
    expect(user).toBe(process.getuid?.())
    expect(env.filter((name) => /TOKEN|npm_|COVE/.test(name))).toEqual([])
    expect(await sandboxes.isolation()).toMatchObject({
      allowed: true,
      enforced: false,
      parts: { files: 'not isolated', 'system calls': 'not filtered' },
    })
    await sandboxes.close()
  })
})

describe('the pool', () => {
  test('stays within its memory, lets calls wait, and refuses when too many do', async () => {
    const sandboxes = open('pool', { pool: { budget: 512, queue: 2, idle: 60_000, pause: 100 } })
    const code = 'const main = () => new Promise((r) => setTimeout(() => r({}), 300))'
    const calls = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      sandboxes.execute(request(actionOf(code, { name }))).then(
        ({ status }) => status,
        (error: { status: number }) => error.status,
      ),
    )
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(sandboxes.stats().memory).toBeLessThanOrEqual(512)
    expect((await Promise.all(calls)).sort()).toEqual([
      429,
      'success',
      'success',
      'success',
      'success',
    ])
    await sandboxes.close()
    expect(sandboxes.stats()).toMatchObject({ busy: 0, idle: 0, ready: 0, memory: 0 })
  })

  test('ends idle sandboxes, and keeps started ones at hand', async () => {
    const pool = { budget: 2048, queue: 10, idle: 200, pause: 50 }
    const sandboxes = open('idle', { reserve: true, pool })
    await sandboxes.start()
    await expect.poll(() => sandboxes.stats().ready, { timeout: 10_000 }).toBe(3)
    const { initTime, waitTime } = await sandboxes.execute(
      request(actionOf('const main = () => ({})')),
    )
    expect(initTime).toBeDefined()
    expect(waitTime).toBeLessThan(1000)
    await expect
      .poll(() => sandboxes.stats(), { timeout: 10_000 })
      .toMatchObject({ idle: 0, ready: 3 })
    await sandboxes.close()
  })
})

describe('container images', () => {
  /** The smallest image that serves actions: Node, the libraries it needs, and a program. */
  const makeRootfs = (rootfs: string) => {
    const copy = (file: string, to = file) => {
      mkdirSync(dirname(join(rootfs, to)), { recursive: true })
      cpSync(file, join(rootfs, to), { dereference: true })
    }
    copy(process.execPath, '/bin/node')
    const libraries = execFileSync('ldd', [process.execPath]).toString()
    for (const [file] of libraries.matchAll(/\/\S+(?= \()/g)) copy(file)
    const program = `#!/bin/node
      let init
      require('http').createServer((request, response) => {
        let text = ''
        request.on('data', (part) => { text += part })
        request.on('end', () => {
          const { value, activation_id } = JSON.parse(text)
          if (request.url === '/init') { init = value; return response.end('{}') }
          console.log('ran'); console.log('XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX')
          if (value.fail) { response.statusCode = 502; return response.end('{"error":"as asked"}') }
          response.end(JSON.stringify({ ...value, code: init.code, root: require('fs').readdirSync('/') }))
        })
      }).listen(8080)`
    writeFileSync(join(rootfs, 'action'), program, { mode: 0o755 })
  }
  const blackbox = (image: string) => actionOf('the code', { kind: 'blackbox', image, name: image })

  test('run from a root file system or an OCI layout, behind /init and /run', async () => {
    const sandboxes = open('images')
    const images = join(home, 'images', 'images')
    makeRootfs(join(images, 'plain'))
    const layout = join(images, 'team/oci')
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
    const blob = (bytes: Buffer | string) => {
      const digest = createHash('sha256').update(bytes).digest('hex')
      writeFileSync(join(layout, 'blobs/sha256', digest), bytes)
      return { digest: `sha256:${digest}` }
    }
    const tar = (...args: string[]) => execFileSync('tar', args, { maxBuffer: 2 ** 29 })
    writeFileSync(join(images, 'plain', 'old'), 'below')
    const lower = blob(tar('-c', '-C', join(images, 'plain'), '.'))
    const above = join(home, 'above')
    mkdirSync(above)
    writeFileSync(join(above, '.wh.old'), '')
    writeFileSync(join(above, 'new'), 'above')
    const upper = blob(tar('-cz', '-C', above, '.'))
    const config = blob(
      JSON.stringify({ config: { Entrypoint: ['/bin/node'], Cmd: ['/action'], Env: ['A=b'] } }),
    )
    const manifest = blob(JSON.stringify({ config, layers: [lower, upper] }))
    writeFileSync(join(layout, 'index.json'), JSON.stringify({ manifests: [manifest] }))
    writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion": "1.0.0"}')

    for (const image of ['plain', 'team/oci']) {
      await sandboxes.prepare(blackbox(image))
      const done = await sandboxes.execute(request(blackbox(image), { x: 1 }))
      expect(done, image).toMatchObject({ status: 'success', result: { x: 1, code: 'the code' } })
      expect(done.logs.map((line) => line.slice(31))).toEqual(['stdout: ran'])
      const { root } = done.result as { root: string[] }
      expect(root.includes('new')).toBe(image === 'team/oci')
      expect(root.includes('old')).toBe(image === 'plain')
      expect(root).not.toContain('etc')
      const failed = await sandboxes.execute(request(blackbox(image), { fail: true }))
      expect(failed).toMatchObject({ status: 'action developer error', failure: 'answer' })
    }
    await expect(sandboxes.prepare(blackbox('nowhere'))).rejects.toThrow(/Failed to pull/)
    await expect(sandboxes.prepare(blackbox('../images'))).rejects.toThrow(/Failed to pull/)
    await sandboxes.close()
  }, 60_000)
})

describe('control groups of the second version', () => {
  test('are asked for in its own words', async () => {
    const root = join(home, 'v2')
    mkdirSync(root)
    writeFileSync(join(root, 'cgroup.controllers'), 'cpu memory pids')
    writeFileSync(join(root, 'cgroup.subtree_control'), '')
    const groups = await openGroups('label', root)
    expect(groups?.version).toBe('v2')
    const group = await groups?.create('box')
    await group?.limit({ memory: 128, processes: 64, cpus: 1 })
    const dir = join(root, 'cove-functions/label/box')
    const read = (file: string) => readFileSync(join(dir, file), 'utf8')
    expect(read('memory.max')).toBe(String(128 * 1024 * 1024))
    expect(read('pids.max')).toBe('64')
    expect(read('cpu.max')).toBe('100000 100000')
    expect(readFileSync(join(root, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids +cpu')
    expect(group?.joins).toEqual([join(dir, 'cgroup.procs')])
    writeFileSync(join(dir, 'memory.events'), 'low 0\noom 1\noom_kill 2\n')
    expect(await group?.oomKills()).toBe(2)
  })
})

test('the filter has the right length on both processors, and none where it knows no numbers', () => {
  const x64 = seccompFilter('x64')
  const arm64 = seccompFilter('arm64')
  expect(x64?.length).toBeGreaterThan(800)
  // Two calls less: ioperm and iopl.
  expect((x64?.length ?? 0) - (arm64?.length ?? 0)).toBe(2 * 2 * 8)
  expect(seccompFilter('riscv64')).toBeUndefined()
})

describe('archives', () => {
  test('come back as they went in', async () => {
    const dir = join(home, 'tree')
    mkdirSync(join(dir, 'a/b'), { recursive: true })
    writeFileSync(join(dir, 'a/b/file.txt'), 'text')
    writeFileSync(join(dir, 'run.sh'), 'x', { mode: 0o755 })
    execFileSync('ln', ['-s', 'a/b/file.txt', join(dir, 'link')])
    const bytes = await zipFolder(dir)
    const out = join(home, 'out')
    await unzip(bytes, out)
    expect(execFileSync('diff', ['-r', dir, out]).toString()).toBe('')
    expect(await zipFolder(out)).toEqual(bytes)
  })

  test('never write outside their folder', async () => {
    const dir = join(home, 'evil')
    mkdirSync(dir)
    writeFileSync(join(dir, 'xx_escaped'), 'x')
    const bytes = await zipFolder(dir)
    // The name stands twice: before the file and in the directory.
    const evil = Buffer.from(
      bytes.toString('latin1').replaceAll('xx_escaped', '../escaped'),
      'latin1',
    )
    await expect(unzip(evil, join(home, 'inner'))).rejects.toThrow('leads out of it')
    expect(existsSync(join(home, 'escaped'))).toBe(false)
    await expect(unzip(Buffer.from('PK nonsense'), join(home, 'inner'))).rejects.toThrow(
      'no zip file',
    )
  })
})
