import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { echoServer, envelope } from '../../test/echo.ts'
import { both, calling, modern, request, textOf } from '../../test/echo-http.ts'
import { createGuard } from './guard.ts'
import { serveHttp } from './http.ts'
import type { JsonObject } from './protocol.ts'

const { spec, diary } = echoServer()
const guard = createGuard()
const handle = serveHttp(spec)
const server = createAdaptorServer({ fetch: (incoming) => guard(incoming) ?? handle(incoming) })
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
})
afterAll(() => {
  server.close()
})

const post = (message: JsonObject, init: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(message),
    ...init,
    headers: { ...both, ...init.headers },
  })

const isWell = async () => {
  const response = await post(request('ping'))
  return response.status === 200 && (await response.json())
}

test('bodies up to 10 MB are served, longer ones refused, announced or not', async () => {
  const text = 'ü'.repeat(4 << 20)
  const answer = (await (await post(calling('echo', { text }))).json()) as JsonObject
  expect(textOf(answer.result)).toBe(text)
  const long = JSON.stringify(calling('echo', { text: 'x'.repeat(11 << 20) }))
  const announced = { method: 'POST', headers: both, body: long }
  const streamed = { ...announced, body: new Blob([long]).stream(), duplex: 'half' } as RequestInit
  for (const init of [announced, streamed]) expect((await fetch(url, init)).status).toBe(413)
  expect(await isWell()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
})

test('a client that hangs up stops its call, in either era', async () => {
  const later = calling('wait', {}, envelope())
  for (const [message, headers] of [
    [calling('wait'), {}],
    [later, modern(later)],
  ] as [JsonObject, Record<string, string>][]) {
    diary.length = 0
    const hangUp = new AbortController()
    const call = post(message, { headers, signal: hangUp.signal })
    await expect.poll(() => diary).toEqual(['waiting'])
    hangUp.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => diary).toEqual(['waiting', 'aborted'])
  }
  expect(await isWell()).toMatchObject({ result: {} })
})

test('progress arrives as events before the answer, which ends the stream', async () => {
  const response = await post(calling('steps', {}, { _meta: { progressToken: 'p' } }))
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const events = (await response.text()).trim().split('\n\n')
  const messages = events.map((event) => JSON.parse(event.replace(/^event: message\ndata: /, '')))
  expect(messages.map(({ params }) => params?.progress)).toEqual([1, 2, 3, undefined])
  expect(textOf(messages[3].result)).toBe('walked')
  const silent = await post(calling('steps'))
  expect(silent.headers.get('content-type')).toBe('application/json')
})

test('a name that is not this machine is refused before anything is read', async () => {
  const { port } = new URL(url)
  const status = await new Promise((resolve) => {
    http
      .request({ port, method: 'POST', path: '/mcp', headers: { ...both, host: 'evil.example' } })
      .on('response', (response) => resolve(response.statusCode))
      .end(JSON.stringify(request('ping')))
  })
  expect(status).toBe(403)
  expect(
    (await post(request('ping'), { headers: { origin: 'https://evil.example' } })).status,
  ).toBe(403)
  expect(await isWell()).toMatchObject({ result: {} })
})
