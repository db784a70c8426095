import { expect, test } from 'vitest'
import { both, calling, request, startEcho, url } from '../../test/echo-http.ts'

test('only POST with JSON in and both forms out is taken', async () => {
  const { handle, post } = startEcho()
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
    const response = await handle(new Request(url, { method }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  }
  const list = request('tools/list')
  expect((await post(list, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await post(list, { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(200)
  for (const accept of ['application/json', 'text/event-stream', 'text/html', ''])
    expect((await post(list, { accept })).status).toBe(406)
  for (const accept of ['*/*', 'text/*;q=0.5, application/*'])
    expect((await post(list, { accept })).status).toBe(200)
})

test('what is not a message is refused with its reason, and the server goes on', async () => {
  const { ask, post } = startEcho()
  const cases: [unknown, number, RegExp][] = [
    ['{"jsonrpc":', -32700, /not valid JSON/],
    ['', -32700, /not valid JSON/],
    ['"text"', -32600, /JSON object/],
    ['null', -32600, /JSON object/],
    [`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, -32600, /"2.0"/],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, -32600, /"2.0"/],
    [request('ping', undefined, null), -32600, /"id"/],
    [request('ping', undefined, {}), -32600, /"id"/],
    [request('ping', undefined, 1.5), -32600, /"id"/],
    [request('ping', undefined, 2 ** 60), -32600, /"id"/],
    [{ jsonrpc: '2.0', id: 1, method: 5 }, -32600, /"method"/],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32602, /"params"/],
    [{ jsonrpc: '2.0', id: 1 }, -32600, /"method"/],
    [{ jsonrpc: '2.0', id: 1, result: 5 }, -32600, /"result"/],
  ]
  for (const [body, code, message] of cases) {
    const { status, error } = await ask(body)
    expect(error).toEqual({ code, message: expect.stringMatching(message) })
    expect(status).toBe(400)
    expect((await ask(request('ping'))).result).toEqual({})
  }
  const unknown = await ask(request('__proto__'))
  expect(unknown).toMatchObject({ status: 200, id: 1, error: { code: -32601 } })
  expect(await ask('{"jsonrpc":')).toHaveProperty('id', null)
  const newer = await post('{', { 'mcp-protocol-version': '2025-11-25' })
  expect(await newer.json()).not.toHaveProperty('id')
})

test('bodies are bounded, announced or not', async () => {
  const { post, handle, ask } = startEcho({ limit: 1000 })
  const long = JSON.stringify(calling('echo', { text: 'x'.repeat(1000) }))
  expect((await post(long, { 'content-length': String(long.length) })).status).toBe(413)
  const chunks = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(100))),
  })
  const init = { method: 'POST', headers: both, body: chunks, duplex: 'half' }
  expect((await handle(new Request(url, init as RequestInit))).status).toBe(413)
  expect((await ask(request('ping'))).result).toEqual({})
})

test('batches are taken in 2025-03-26 and refused elsewhere', async () => {
  const { ask, post } = startEcho()
  const batch = [request('ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }, 5]
  const answers = await (await post(batch)).json()
  expect(answers).toEqual([
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32600 }) },
  ])
  const only = [{ jsonrpc: '2.0', method: 'notifications/initialized' }]
  expect((await post(only)).status).toBe(202)
  for (const version of ['2025-11-25', '2026-07-28']) {
    const { status, error } = await ask(batch, { 'mcp-protocol-version': version })
    expect({ status, error }).toMatchObject({ status: 400, error: { code: -32600 } })
  }
  const hello = request('initialize', { protocolVersion: '2025-03-26' })
  for (const bad of [[], [hello], Array(101).fill(request('ping'))])
    expect(await ask(bad)).toMatchObject({ status: 400, error: { code: -32600 } })
})

test('a failure inside is reported, and the client is told no more than that', async () => {
  const { ask, diary } = startEcho()
  const { error } = await ask(calling('boom'))
  expect(error).toMatchObject({ code: -32603 })
  expect(JSON.stringify(error)).not.toMatch(/password|stack|\.ts/)
  expect(diary).toEqual(['reported the password is 1234'])
})

test('notifications and answers are accepted without an answer', async () => {
  const { post } = startEcho()
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } },
    { jsonrpc: '2.0', id: 'nobody-asked', result: {} },
  ]) {
    const response = await post(message)
    expect(response.status).toBe(202)
    expect(await response.text()).toBe('')
  }
})
