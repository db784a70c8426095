import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { ApiError } from '#core/error.ts'
import { legacyVersions } from '#mcp/protocol.ts'
import { knowledgeEndpoint, type RetrieveRequest } from './endpoint.ts'

const url = 'http://127.0.0.1:8787/v1/mcp'
const id = 'b441a559-c8fe-4d40-b8b4-f21dfdc0f701'
const asked: RetrieveRequest[] = []

const paths = knowledgeEndpoint({
  version: '1.0.0',
  authenticate: async (request) => {
    const token = request.headers.get('authorization')
    const scopes = token === 'Bearer reader' ? ['genai:read'] : ['account:read']
    return token === 'Bearer reader' || token === 'Bearer other'
      ? { id: 't', name: token.slice(7), scopes }
      : undefined
  },
  retrieve: async (request) => {
    asked.push(request)
    if (request.text === 'refuse') throw ApiError.notFound(`Knowledge base ${id}`)
    if (request.text === 'break') throw new Error('secret detail')
    return [
      {
        text: 'Flush the drip lines.',
        score: 1,
        metadata: { path: 'a.md', title: 'Handbook', section: 'Watering', page: 3 },
      },
    ]
  },
  report: () => {},
})
const receive = paths['/v1/mcp'] ?? (() => new Response(null, { status: 404 }))
const fetch = async (input: string | URL, init?: RequestInit) => receive(new Request(input, init))

const both = 'application/json, text/event-stream'
const post = (body: unknown, headers: Record<string, string> = {}, method = 'POST') =>
  fetch(url, {
    method,
    headers: {
      authorization: 'Bearer reader',
      'content-type': 'application/json',
      accept: both,
      ...headers,
    },
    ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const message = (method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
})
const calling = (args: Record<string, unknown>) =>
  message('tools/call', { name: 'retrieve_knowledge_base', arguments: args })
const right = { knowledge_base_id: id, query: 'drip', num_results: 3 }

interface Answer {
  result: { isError?: boolean; content: { text: string }[]; structuredContent: unknown }
  error?: { code: number; message: string }
}
const answer = async (response: Response) => (await response.json()) as Answer
const refusal = async (args: Record<string, unknown>, headers = {}) => {
  const response = await post(calling(args), headers)
  expect(response.status).toBe(200)
  const { result } = await answer(response)
  expect(result.isError).toBe(true)
  return result.content[0]?.text
}

test.each(legacyVersions)('the official client searches in %s', async (version) => {
  const client = new Client(
    { name: 'official', version: '1.0.0' },
    { supportedProtocolVersions: [version] },
  )
  const stated: (string | null)[] = []
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: 'Bearer reader' } },
      fetch: (input, init) => {
        stated.push(new Headers(init?.headers).get('mcp-protocol-version'))
        return fetch(input, init)
      },
    }),
  )
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['retrieve_knowledge_base'])
  expect(tools[0]?.annotations).toEqual({
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  })
  expect(tools[0]?.inputSchema.required).toEqual(['knowledge_base_id', 'query', 'num_results'])
  const found = await client.callTool({ name: 'retrieve_knowledge_base', arguments: right })
  expect(found.structuredContent).toEqual({
    total_results: 1,
    results: [
      {
        text_content: 'Flush the drip lines.',
        metadata: { path: 'a.md', title: 'Handbook', section: 'Watering', page: 3 },
      },
    ],
  })
  expect(found.content).toEqual([
    {
      type: 'text',
      text: '1 result for "drip"\n\n[1] Handbook, Watering, page 3 (a.md)\nFlush the drip lines.',
    },
  ])
  await client.ping()
  await client.close()
  expect(stated).toContain(version)
})

test.each(legacyVersions)('without any header a client may initialize as %s', async (version) => {
  const hello = message('initialize', {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  })
  const response = await post(hello)
  expect(response.headers.get('mcp-session-id')).toBe(null)
  expect(await response.json()).toMatchObject({ result: { protocolVersion: version } })
  expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
  expect((await answer(await post(calling(right)))).result.isError).toBe(undefined)
})

test('another protocol version is refused in the header, and answered with one of ours in the handshake', async () => {
  for (const version of ['2026-07-28', '2024-10-07', 'x'])
    expect((await post(calling(right), { 'mcp-protocol-version': version })).status, version).toBe(
      400,
    )
  const hello = message('initialize', { protocolVersion: '1999-01-01', capabilities: {} })
  expect(await (await post(hello)).json()).toMatchObject({
    result: { protocolVersion: '2025-11-25' },
  })
})

test('only POST, JSON and both kinds of answer are accepted', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await post('', {}, method)
    expect(response.status, method).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  }
  expect((await post(calling(right), { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await post(calling(right), { accept: 'application/json' })).status).toBe(406)
  expect((await post(calling(right), { accept: 'text/event-stream' })).status).toBe(406)
  expect((await post(calling(right), { accept: '*/*' })).status).toBe(200)
  expect((await answer(await post('{'))).error?.code).toBe(-32700)
  expect((await answer(await post(message('resources/list')))).error?.code).toBe(-32601)
  expect((await answer(await post(message('tools/call', { name: 'other' })))).error?.message).toBe(
    'Unknown tool "other": there is only retrieve_knowledge_base.',
  )
})

test('a call without a good token is a tool result; everything else is challenged', async () => {
  expect(await refusal(right, { authorization: '' })).toContain(
    'Authentication failed: send the header "Authorization: Bearer <token>"',
  )
  expect(await refusal(right, { authorization: 'Bearer wrong' })).toBe(
    'Authentication failed: the token is unknown, expired or revoked.',
  )
  expect(await refusal(right, { authorization: 'Bearer other' })).toBe(
    'The token "other" lacks the permission genai_read (scope genai:read).',
  )
  const list = message('tools/list')
  const wrong = await post(list, { authorization: 'Bearer wrong' })
  expect(wrong.status).toBe(401)
  expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"')
  expect((await post(list, { authorization: '' })).status).toBe(401)
  expect((await post(list, { authorization: 'Bearer other' })).status).toBe(403)
  const both = [calling(right), list]
  expect((await post(both, { authorization: 'Bearer wrong' })).status).toBe(401)
  const metadata = await paths['/.well-known/oauth-protected-resource/v1/mcp']?.(new Request(url))
  expect(await metadata?.json()).toMatchObject({ resource: url, scopes_supported: ['genai:read'] })
})

test.each([
  [{ ...right, knowledge_base_id: 'x' }, 'knowledge_base_id must be a valid UUID'],
  [{ ...right, knowledge_base_id: undefined }, 'knowledge_base_id is required'],
  [{ ...right, query: '  ' }, 'query must have at least 1 character'],
  [{ ...right, num_results: undefined }, 'num_results is required'],
  [{ ...right, num_results: 0 }, 'num_results must be at least 1'],
  [{ ...right, num_results: 26 }, 'num_results must be at most 25'],
  [{ ...right, num_results: 2.5 }, 'num_results must be a whole number'],
  [{ ...right, alpha: 1.1 }, 'alpha must be at most 1'],
  [{ ...right, top_k: 3 }, 'has no field "top_k"'],
  [
    { ...right, filters: { equals: { key: 'a' } } },
    'filters.equals.value must be text or a number.',
  ],
  [{ ...right, query: 'refuse' }, `Knowledge base ${id} was not found.`],
  [{ ...right, query: 'break' }, 'Something went wrong inside the server; its log tells what.'],
])('%j is answered with what is wrong', async (args, sentence) => {
  expect(await refusal(args)).toContain(sentence)
})

test('alpha is 0.5 unless given, and filters are read', async () => {
  asked.length = 0
  await post(calling(right))
  await post(calling({ ...right, alpha: 0, filters: { starts_with: { key: 'path', value: 'a' } } }))
  expect(asked).toEqual([
    { knowledgeBase: id, text: 'drip', limit: 3, alpha: 0.5 },
    {
      knowledgeBase: id,
      text: 'drip',
      limit: 3,
      alpha: 0,
      filter: { kind: 'compare', operator: 'starts_with', key: 'path', value: 'a' },
    },
  ])
})
