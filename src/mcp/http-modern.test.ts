import { expect, test } from 'vitest'
import { envelope } from '../../test/echo.ts'
import { calling, modern, request, startEcho, textOf } from '../../test/echo-http.ts'
import type { JsonObject } from './protocol.ts'

test('a 2026-07-28 request says everything about itself', async () => {
  const { ask } = startEcho()
  const discover = request('server/discover', envelope())
  const { result } = await ask(discover, modern(discover))
  expect(result).toMatchObject({ resultType: 'complete', supportedVersions: ['2026-07-28'] })
  const list = request('tools/list', envelope())
  expect((await ask(list, modern(list))).result).toMatchObject({
    resultType: 'complete',
    ttlMs: 1000,
    cacheScope: 'public',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'echo' } },
    tools: expect.any(Array),
  })
  const echo = calling('echo', { text: 'hi' }, envelope())
  const wrong: [JsonObject, Record<string, string>, number, number][] = [
    [echo, { ...modern(echo), 'mcp-name': 'other' }, 400, -32020],
    [echo, { ...modern(echo), 'mcp-name': '=?base64?ZWNobw=?=' }, 400, -32020],
    [echo, { ...modern(echo), 'mcp-method': 'tools/list' }, 400, -32020],
    [echo, { 'mcp-protocol-version': '2026-07-28' }, 400, -32020],
    [echo, { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, 400, -32020],
    [calling('echo'), modern(calling('echo')), 400, -32602],
    [calling('echo', {}, envelope({}, 'v9')), { 'mcp-protocol-version': 'v9' }, 400, -32022],
    [request('ping', envelope()), modern(request('ping')), 404, -32601],
    [request('none', envelope()), modern(request('none')), 404, -32601],
    [calling('none', {}, envelope()), modern(calling('none')), 200, -32602],
  ]
  for (const [message, headers, status, code] of wrong)
    expect(await ask(message, headers)).toMatchObject({ status, id: 1, error: { code } })
  const encoded = { ...modern(echo), 'mcp-name': '=?base64?ZWNobw==?=' }
  expect(textOf((await ask(echo, encoded)).result)).toBe('hi')
})

test('the state of a question holds for its request, its caller and its time only', async () => {
  let time = 1_000_000
  const { post, diary } = startEcho({ now: () => time })
  const say = async (args: JsonObject, more: JsonObject = {}, principal = 'ann') => {
    const message = calling('delete', args, { ...envelope({ elicitation: {} }), ...more })
    const response = await post(message, modern(message), { principal })
    return (await response.json()) as { result: JsonObject; error: JsonObject }
  }
  const { result } = await say({ name: 'it' })
  expect(result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { 'question-1': { method: 'elicitation/create' } },
  })
  const requestState = String(result.requestState)
  const inputResponses = { 'question-1': { action: 'accept', content: { yes: true } } }
  const answer = { requestState, inputResponses }
  const refused = { error: { code: -32602 } }
  expect(await say({ name: 'it' }, { ...answer, requestState: `${requestState}x` })).toMatchObject(
    refused,
  )
  expect(await say({ name: 'it' }, { ...answer, requestState: 5 })).toMatchObject(refused)
  expect(await say({ name: 'all' }, answer)).toMatchObject(refused)
  expect(await say({ name: 'it' }, answer, 'bob')).toMatchObject(refused)
  expect((await say({ name: 'it' }, { inputResponses })).result.resultType).toBe('input_required')
  const misfit = {
    requestState,
    inputResponses: { 'question-1': { action: 'accept', content: {} } },
  }
  expect((await say({ name: 'it' }, misfit)).result.resultType).toBe('input_required')
  expect(diary).toEqual([])
  expect(textOf((await say({ name: 'it' }, answer)).result)).toBe('deleted it')
  time += 600_001
  expect(await say({ name: 'it' }, answer)).toMatchObject(refused)
})
