import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { envelope } from '../../test/echo.ts'
import { both, calling, modern, request, startEcho, textOf, url } from '../../test/echo-http.ts'
import { serveHttp } from './http.ts'
import { type Auth, type JsonObject, legacyVersions, protocolVersions } from './protocol.ts'

const negotiation = (version: string) => {
  if (version === 'auto') return { versionNegotiation: { mode: 'auto' as const } }
  return version === '2026-07-28'
    ? { versionNegotiation: { mode: { pin: version } } }
    : { supportedProtocolVersions: [version] }
}

const connect = async (version: string, handle: ReturnType<typeof serveHttp>, auth?: Auth) => {
  const asked: string[] = []
  const client = new Client(
    { name: 'official', version: '2.4.0' },
    {
      capabilities: { elicitation: { form: {} } },
      ...negotiation(version),
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { yes: true } }
  })
  const fetch = (input: string | URL, init?: RequestInit) =>
    handle(new Request(input, init), auth ? { auth } : {})
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch }))
  return { client, asked }
}

test.each(protocolVersions)(
  'the official client lists, calls and is asked in %s',
  async (version) => {
    const { handle, diary } = startEcho()
    const { client, asked } = await connect(version, handle, { principal: 'ann', token: 't' })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
    const strange = 'quotes " \\ \u0000\u001f \u2028 🌊 \r\n'
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: strange } }))).toBe(
      strange,
    )
    expect(JSON.parse(textOf(await client.callTool({ name: 'who' })) ?? '')).toMatchObject({
      version,
      auth: { principal: 'ann', token: 't' },
      client: { info: { name: 'official' } },
    })
    const seen: unknown[] = []
    const onprogress = (progress: unknown) => seen.push(progress)
    expect(textOf(await client.callTool({ name: 'steps' }, { onprogress }))).toBe('walked')
    expect(seen).toHaveLength(3)

    const deleted = textOf(await client.callTool({ name: 'delete', arguments: { name: 'it' } }))
    const asks = version >= '2025-06-18'
    expect(deleted).toBe(asks ? 'deleted it' : 'deleted it unasked')
    expect(asked).toEqual(asks ? ['Delete it?'] : [])
    expect(diary).toEqual(asks ? ['deleted it'] : [])
    await expect(client.callTool({ name: 'none' })).rejects.toMatchObject({ code: -32602 })
    await client.close()
  },
)

test('a client that speaks both eras finds the one that is served', async () => {
  for (const [versions, found] of [
    [protocolVersions, '2026-07-28'],
    [legacyVersions, '2025-11-25'],
  ] as const) {
    const { client } = await connect('auto', startEcho({ versions }).handle)
    expect(textOf(await client.callTool({ name: 'who' }))).toContain(`"version":"${found}"`)
    await client.close()
  }
})

test('the handshake agrees on the version of the client, or offers the newest', async () => {
  const { ask } = startEcho()
  for (const version of legacyVersions) {
    const { result } = await ask(request('initialize', { protocolVersion: version }))
    expect(result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'echo' } })
  }
  const { result } = await ask(request('initialize', { protocolVersion: '1999-01-01' }))
  expect(result).toMatchObject({ protocolVersion: '2025-11-25', instructions: 'Say something.' })
  expect(await ask(request('initialize', {}))).toMatchObject({ error: { code: -32602 } })
})

test('a server of four revisions takes none but these, and 2025-03-26 when none is named', async () => {
  const { ask, post } = startEcho({ versions: legacyVersions, sessions: false })
  const who = await ask(calling('who'))
  expect(textOf(who.result)).toContain('"version":"2025-03-26"')
  const other = await ask(calling('who'), { 'mcp-protocol-version': '2025-11-25' })
  expect(textOf(other.result)).toContain('"version":"2025-11-25"')
  const message = calling('who', {}, envelope())
  const refused = await ask(message, modern(message))
  expect(refused).toMatchObject({ status: 400, error: { code: -32600 } })
  expect(refused.error).toMatchObject({ message: expect.stringContaining('2024-11-05') })
  const hello = await post(request('initialize', { protocolVersion: '2025-11-25' }))
  expect(hello.headers.get('mcp-session-id')).toBeNull()
})

test('a session belongs to one caller and cannot be made up', async () => {
  const { post, spec } = startEcho({ key: 'shared' })
  const hello = request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
  })
  const response = await post(hello, {}, { principal: 'ann' })
  const session = response.headers.get('mcp-session-id') ?? ''
  expect(session).toMatch(/^[\x21-\x7e]+$/)
  const status = async (id: string, principal: string, target = post) =>
    (await target(request('ping'), { 'mcp-session-id': id }, { principal })).status
  expect(await status(session, 'ann')).toBe(200)
  expect(await status(session, 'bob')).toBe(404)
  expect(await status(`${session.slice(0, -2)}xx`, 'ann')).toBe(404)
  expect(await status('made-up', 'ann')).toBe(404)
  const twin = serveHttp(spec, { key: 'shared' })
  const atTwin = await twin(
    new Request(url, {
      method: 'POST',
      headers: { ...both, 'mcp-session-id': session },
      body: JSON.stringify(calling('who')),
    }),
    { auth: { principal: 'ann' } },
  )
  const { result } = (await atTwin.json()) as JsonObject
  expect(textOf(result)).toContain('"elicitation"')
})

test('a cancelled call stops, and so does one whose client went away', async () => {
  const { handle, diary, ask } = startEcho()
  for (const version of ['2025-11-25', '2026-07-28']) {
    diary.length = 0
    const { client } = await connect(version, handle)
    const stop = new AbortController()
    const call = client.callTool({ name: 'wait' }, { signal: stop.signal })
    await expect.poll(() => diary).toEqual(['waiting'])
    stop.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => diary).toEqual(['waiting', 'aborted'])
    await client.close()
  }
  expect((await ask(request('ping'))).result).toEqual({})
})
