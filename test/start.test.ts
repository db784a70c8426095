import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '#client/client.ts'
import { builtFile } from '#core/built.ts'
import { tags } from '#services/compute/tags/contract.ts'
import { audit } from '#services/cove/audit/contract.ts'
import { cleanEnv, cove, newHome, type Running, startCove } from './process.ts'

let running: Running
beforeAll(async () => {
  running = await startCove()
})
afterAll(() => running.stop())

test('an unknown service, tool or flag ends the start with the valid names', async () => {
  for (const [args, message] of [
    [['mcp', '--services', 'nets'], /Unknown service "nets". Valid: accounts/],
    [['mcp', '--tools', 'key-lst'], /Unknown tool "key-lst". Valid: .*key-list/],
    [['mcp', '--read-onyl'], /Unknown option '--read-onyl'.* Valid: .*--read-only/],
    [['up', '--port', '99999'], /--port must be a whole number from 0 to 65535/],
    [['up', 'now'], /takes no "now"/],
    [['fly'], /There is no command "fly". Valid: up, mcp/],
    [['up', '--rate-limit', 'fast'], /--rate-limit must be a number/],
    [
      ['mcp', '--api-url', 'https://api.example.com'],
      /token for https:\/\/api.example.com is missing/,
    ],
    [['mcp', '--api-url', 'http://api.example.com', '--api-token', 'abc'], /must start with https/],
  ] as [string[], RegExp][]) {
    const { status, err } = await cove(newHome(), args)
    expect(err.trim()).toMatch(message)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(status).toBe(2)
  }
})

test('a misspelt setting is never ignored', async () => {
  const home = newHome()
  const misspelt = await cove(home, ['status'], { COVE_REDA_ONLY: '1' })
  expect(misspelt.err).toContain(
    'Unknown setting COVE_REDA_ONLY in the environment. Valid: COVE_HOME',
  )
  writeFileSync(join(home, 'config.json'), '{"read_only": true}')
  expect((await cove(home, ['up'])).err).toMatch(
    /Unknown setting "read_only" in .*config.json. Valid: host, port/,
  )
  writeFileSync(join(home, 'config.json'), '{"port": ')
  expect((await cove(home, ['up'])).err).toMatch(/config.json is not valid JSON/)
  writeFileSync(join(home, 'config.json'), '{"port": "abc"}')
  expect((await cove(home, ['up'])).err).toMatch(/"port" in config.json must be a whole number/)
  rmSync(home, { recursive: true })
})

test('one home has one Cove, and the second one says where the first is', async () => {
  const { status, err } = await cove(running.home, ['up', '--port', '0'])
  expect(err).toContain(`A Cove is already running on ${running.home} at ${running.url}`)
  expect(status).toBe(3)
})

test('a port in use is told in one sentence', async () => {
  const blocker = createServer()
  await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done))
  const { port } = blocker.address() as { port: number }
  const { err, status } = await cove(newHome(), ['up', '--port', String(port)])
  expect(err.trim()).toBe(
    `Port ${port} on 127.0.0.1 is in use by another program. Choose another with --port.`,
  )
  expect(status).toBe(2)
  blocker.close()
})

test('the home and the token are for nobody else', () => {
  expect(statSync(running.home).mode & 0o777).toBe(0o700)
  expect(statSync(join(running.home, 'token')).mode & 0o777).toBe(0o600)
  for (const file of ['cove.db', 'daemon.json']) {
    expect(statSync(join(running.home, file)).mode & 0o077, file).toBe(0)
  }
})

test('a token or a store that cannot be used is told in one sentence', async () => {
  const home = newHome()
  expect((await cove(home, ['up'], { COVE_TOKEN: 'short' })).err.trim()).toBe(
    'COVE_TOKEN must have at least 8 characters and no spaces.',
  )
  writeFileSync(join(home, 'token'), '')
  expect((await cove(home, ['up', '--port', '0'])).err.trim()).toMatch(/token is empty; remove it/)
  rmSync(join(home, 'token'))
  writeFileSync(join(home, 'cove.db'), 'not a database at all'.repeat(1000))
  const { err, status } = await cove(home, ['up', '--port', '0'])
  expect(err.trim().split('\n')).toHaveLength(1)
  expect(err).toContain('cove.db')
  expect(status).toBe(1)
  rmSync(home, { recursive: true })
})

test('no acknowledged write is lost when Cove is killed in the middle of writing', async () => {
  const home = newHome()
  const acknowledged: string[] = []
  for (let round = 0; round < 5; round++) {
    const { url, token, kill } = await startCove(home)
    const api = createApi({ baseUrl: url, token, fetch, attempts: 1 })
    let writing = true
    const writers = Array.from({ length: 4 }, async () => {
      while (writing) {
        const name = `t-${randomUUID()}`
        try {
          await api(tags.create, { body: { name } })
          acknowledged.push(name)
        } catch {
          writing = false // The server is gone.
        }
      }
    })
    await new Promise((resolve) => setTimeout(resolve, 150 + round * 40))
    await kill()
    await Promise.all(writers)
  }
  const { url, token, stop } = await startCove(home)
  const api = createApi({ baseUrl: url, token, fetch })
  expect(acknowledged.length).toBeGreaterThan(20)
  const kept = new Set<string>()
  for (let page = 1; ; page++) {
    const { tags: found } = await api(tags.list, { query: { page, per_page: 200 } })
    for (const { name } of found) kept.add(name)
    if (found.length < 200) break
  }
  expect(acknowledged.filter((name) => !kept.has(name))).toEqual([])
  await expect(api(audit.list, {})).resolves.toEqual({ calls: [] })
  await stop()
})

test('everything that was built can be loaded', async () => {
  const chunks = readdirSync(builtFile('chunks')).map((name) => builtFile(`chunks/${name}`))
  const program = `for (const file of process.argv.slice(1)) await import(file)`
  const { stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', program, ...chunks],
    {
      encoding: 'utf8',
      env: cleanEnv(newHome()),
    },
  )
  expect(stderr).toBe('')
})
