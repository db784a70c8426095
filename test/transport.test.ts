import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allTools, catalogue } from '#services/catalogue.ts'
import { cleanEnv, cove, launcher, newHome, type Running, startCove } from './process.ts'

let running: Running
beforeAll(async () => {
  running = await startCove()
})
afterAll(() => running.stop())

const client = (capabilities = {}) =>
  new Client({ name: 'test', version: '1.0.0' }, { capabilities })

const overHttp = (headers: Record<string, string> = {}, token = running.token) =>
  new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
  })

const overStdio = (args: string[] = [], home = running.home) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [launcher, 'mcp', ...args],
    env: cleanEnv(home) as Record<string, string>,
    stderr: 'pipe',
  })

const namesOf = async (mcp: Client) => (await mcp.listTools()).tools.map((tool) => tool.name)

const text = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map((part) => part.text).join('\n')

test.each([
  ['HTTP', () => overHttp()],
  ['stdio', () => overStdio()],
])('an assistant lists and uses tools over %s', async (_name, transport) => {
  const mcp = client()
  await mcp.connect(transport())
  expect(await namesOf(mcp)).toEqual(Object.keys(allTools))
  const account = await mcp.callTool({ name: 'account-get-information', arguments: {} })
  expect(account.structuredContent).toMatchObject({ account: { status: 'active' } })
  expect(JSON.parse(text(account))).toEqual(account.structuredContent)
  const missing = await mcp.callTool({ name: 'key-get', arguments: { ID: 4711 } })
  expect(missing.isError).toBe(true)
  expect(text(missing)).toContain('SSH key 4711 was not found.')
  const wrong = await mcp.callTool({ name: 'key-get', arguments: {} })
  expect(wrong.isError).toBe(true)
  expect(text(wrong)).toContain('ID is required')
  await expect(mcp.callTool({ name: 'no-such-tool', arguments: {} })).rejects.toThrow(
    'Unknown tool',
  )
  await mcp.close()
})

test('services, tools and read-only choose what is offered, and are held at call time', async () => {
  const readOnly = client()
  await readOnly.connect(
    overStdio(['--services', 'accounts', '--read-only', '--exclude-tools', 'balance-get']),
  )
  const names = await namesOf(readOnly)
  expect(names).toContain('key-list')
  expect(names).not.toContain('key-create')
  expect(names).not.toContain('balance-get')
  expect(names.every((name) => name in (catalogue.accounts ?? {}))).toBe(true)
  await expect(readOnly.callTool({ name: 'key-delete', arguments: { ID: 1 } })).rejects.toThrow(
    'read-only',
  )
  await readOnly.close()
})

test('over HTTP headers narrow, and never widen', async () => {
  const narrow = client()
  await narrow.connect(
    overHttp({ 'x-cove-tools': 'key-list,key-delete', 'x-cove-read-only': 'true' }),
  )
  expect(await namesOf(narrow)).toEqual(['key-list'])
  await expect(narrow.callTool({ name: 'key-delete', arguments: { ID: 1 } })).rejects.toThrow()
  await narrow.close()
  const unknown = client()
  await unknown.connect(overHttp({ 'x-cove-services': 'acounts' }))
  await expect(unknown.listTools()).rejects.toThrow('Unknown service "acounts". Valid: accounts')
  await unknown.close()
})

test.each([
  ['HTTP', () => overHttp()],
  ['stdio', () => overStdio()],
])('a deletion is asked about first over %s where the client can ask', async (_name, transport) => {
  const mcp = client({ elicitation: { form: {} } })
  const asked: string[] = []
  let agree = false
  mcp.setRequestHandler('elicitation/create', (request) => {
    asked.push(request.params.message)
    return agree ? { action: 'accept', content: { confirm: true } } : { action: 'decline' }
  })
  await mcp.connect(transport())
  const refused = await mcp.callTool({ name: 'key-delete', arguments: { ID: 4711 } })
  expect(text(refused)).toContain('the person did not agree')
  agree = true
  const agreed = await mcp.callTool({ name: 'key-delete', arguments: { ID: 4711 } })
  expect(text(agreed)).toContain('SSH key 4711 was not found.')
  expect(asked).toHaveLength(2)
  expect(asked[0]).toContain('key-delete will run with {"ID":4711}')
  await mcp.close()
})

test('every call is in the record, without secrets', async () => {
  const PublicKey = 'ssh-ed25519 nonsense'
  await cove(running.home, [
    'tools',
    'call',
    'key-create',
    JSON.stringify({ Name: 'x', PublicKey }),
  ])
  const { out } = await cove(running.home, ['audit', '--json'])
  const calls = JSON.parse(out) as {
    tool: string
    who: string
    outcome: string
    message?: string
  }[]
  expect(calls).toContainEqual(
    expect.objectContaining({ tool: 'account-get-information', who: 'owner', outcome: 'ok' }),
  )
  expect(calls).toContainEqual(
    expect.objectContaining({ who: 'stdio:test', tool: 'key-get', outcome: 'error' }),
  )
  expect(calls).toContainEqual(expect.objectContaining({ tool: 'key-delete', outcome: 'refused' }))
  const file = join(running.home, 'audit/calls.jsonl')
  expect(readFileSync(file, 'utf8')).not.toContain(running.token)
  expect(statSync(file).mode & 0o077).toBe(0)
})

test('tokens are made, used and revoked from the shell', async () => {
  const made = await cove(running.home, [
    'token',
    'create',
    '--scopes',
    'account:read',
    '--name',
    'reader',
  ])
  const token = made.out.trim()
  expect(made.out.trim().split('\n')).toHaveLength(1)
  const reader = client()
  await reader.connect(overHttp({}, token))
  const refused = await reader.callTool({ name: 'key-list', arguments: {} })
  expect(text(refused)).toContain('lacks the scope ssh_key:read')
  await reader.close()
  expect((await cove(running.home, ['token', 'list'])).out).toContain('reader')
  expect(readFileSync(join(running.home, 'cove.db')).includes(token)).toBe(false)
  await cove(running.home, ['token', 'revoke', 'reader'])
  const { status, headers } = await fetch(`${running.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  expect(status).toBe(401)
  expect(headers.get('www-authenticate')).toMatch(
    /^Bearer .*resource_metadata="http:\/\/.*error="invalid_token"/,
  )
})

test('a foreign Host or Origin is refused on every face', async () => {
  for (const path of ['/', '/mcp', '/v2/account', '/healthz']) {
    for (const headers of [
      { host: 'evil.example' },
      { host: '127.0.0.1', origin: 'https://evil.example' },
    ]) {
      const status = await rawStatus(path, headers)
      expect(status, path).toBe(403)
    }
  }
})

test('an assistant that is spawned first starts the daemon, once, and leaves it running', async () => {
  const home = newHome()
  const spawned = [client(), client(), client()]
  await Promise.all(spawned.map((mcp) => mcp.connect(overStdio([], home))))
  const answers = await Promise.all(
    spawned.map((mcp) => mcp.callTool({ name: 'account-get-information', arguments: {} })),
  )
  const uuids = answers.map(
    (answer) => (answer.structuredContent as { account: { uuid: string } }).account.uuid,
  )
  expect(new Set(uuids).size).toBe(1)
  await Promise.all(spawned.map((mcp) => mcp.close()))
  const status = await cove(home, ['status', '--json'])
  expect(JSON.parse(status.out)).toMatchObject({
    home,
    pid: expect.any(Number),
    services: expect.any(Array),
  })
  expect((await cove(home, ['down'])).out).toContain('Cove has stopped.')
  expect(existsSync(join(home, 'daemon.json'))).toBe(false)
  expect((await cove(home, ['status'])).err).toContain('No Cove is running')
  rmSync(home, { recursive: true })
})

/** fetch does not let a test forge the Host header. */
const rawStatus = (path: string, headers: { host: string; origin?: string }): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(running.url)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (data) => {
      answer += data
      const status = /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]
      if (!status) return
      resolve(Number(status))
      socket.destroy()
    })
    socket.on('error', reject)
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}connection: close\r\n\r\n`)
  })
