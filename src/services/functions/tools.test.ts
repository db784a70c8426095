import { expect, test } from 'vitest'
import { createCalls } from '#mcp/calls.ts'
import { allTools } from '#services/catalogue.ts'

const namespace = 'fn-11111111-2222-3333-4444-555555555555'
const stamp = '2026-01-01T00:00:00Z'

interface Sent {
  method: string
  path: string
  query: Record<string, string>
  body: unknown
}

/** Plays the real cloud: one namespace with keys, and a data plane that accepts only live keys. */
const cloud = (answers: Record<string, unknown> = {}) => {
  const keys = new Map<string, { name: string; secret: string }>()
  const sent: Sent[] = []
  let count = 0
  const addKey = (name: string) => {
    const id = `dof_v1_${++count}`
    keys.set(id, { name, secret: `secret-${count}` })
    return id
  }
  const shown = (id: string) => ({
    id,
    name: keys.get(id)?.name,
    expires_at: stamp,
    created_at: stamp,
    updated_at: stamp,
  })
  const control = (method: string, path: string, body: { name?: string }) => {
    const base = `/v2/functions/namespaces/${namespace}`
    if (path === base) return { namespace: { namespace, api_host: 'https://faas.example' } }
    if (path === `${base}/keys` && method === 'GET')
      return { access_keys: [...keys.keys()].map(shown), count: keys.size }
    if (path === `${base}/keys`) {
      const id = addKey(body.name ?? '')
      return { access_key: { ...shown(id), secret: keys.get(id)?.secret } }
    }
    if (path.startsWith(`${base}/keys/`)) keys.delete(path.slice(`${base}/keys/`.length))
    return answers[`${method} ${path.slice(base.length)}`] ?? {}
  }
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const text = await request.text()
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const path = decodeURIComponent(url.pathname)
    sent.push({ method: request.method, path, query: Object.fromEntries(url.searchParams), body })
    if (url.host !== 'faas.example')
      return Response.json(control(request.method, path, (body ?? {}) as object))
    const given = request.headers.get('authorization') ?? ''
    const live = [...keys].map(([id, { secret }]) => `Basic ${btoa(`${id}:${secret}`)}`)
    if (!live.includes(given))
      return Response.json({ error: 'invalid', code: '7' }, { status: 401 })
    const answer = answers[`${request.method} ${path.split(`/${namespace}/`)[1]}`] ?? {}
    return answer instanceof Response ? answer.clone() : Response.json(answer)
  }
  const run = createCalls((name) => allTools[name], {
    baseUrl: 'https://api.example',
    fetch,
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: Date.now,
  })
  const call = async (name: string, args: object, token = 'one') => {
    const caller = { token, who: 't', signal: new AbortController().signal, progress: () => {} }
    const result = await run(`functions-${name}`, { NamespaceID: namespace, ...args }, caller)
    const text = result.content.map((part) => part.text).join('\n')
    return { error: result.isError === true, text, value: result.structuredContent ?? {} }
  }
  return { call, sent, keys, addKey, names: () => [...keys.values()].map(({ name }) => name) }
}

test('a tool gets at the data plane with a key of its own, made once and kept', async () => {
  const { call, sent, addKey, names } = cloud({ 'GET actions': [{ name: 'hello' }] })
  addKey('ci')
  addKey('mcp-svc-of-yesterday')

  expect((await call('list-actions', {})).value).toEqual({ actions: [{ name: 'hello' }], count: 1 })
  expect(names()).toEqual(['ci', expect.stringMatching(/^mcp-svc-/)])
  expect(names()).not.toContain('mcp-svc-of-yesterday')
  const made = sent.find(({ method, path }) => method === 'POST' && path.endsWith('/keys'))
  expect(made?.body).toMatchObject({ expires_in: '24h' })

  const before = sent.length
  await call('list-actions', { Limit: '5', Skip: 2 })
  expect(sent.slice(before)).toEqual([
    {
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/actions`,
      query: { limit: '5', skip: '2' },
      body: undefined,
    },
  ])
})

test('a key that was revoked is replaced, once', async () => {
  const { call, keys, sent } = cloud({ 'GET packages': [] })
  await call('list-packages', {})
  keys.clear()
  expect((await call('list-packages', { Public: true })).value).toEqual({ packages: [], count: 0 })
  expect(keys.size).toBe(1)
  expect(sent.at(-1)?.query).toEqual({ limit: '30', public: 'true' })
})

test('one caller never uses the key of another', async () => {
  const { call, sent } = cloud({ 'GET actions': [] })
  await call('list-actions', {}, 'one')
  const before = sent.length
  await call('list-actions', {}, 'two')
  expect(sent.slice(before).map(({ path }) => path)).toContain(
    `/v2/functions/namespaces/${namespace}`,
  )
})

test('keys of the tool server can neither be made nor deleted by callers', async () => {
  const { call, addKey, keys } = cloud()
  const id = addKey('mcp-svc-1')
  const made = await call('create-access-key', { Name: 'mcp-svc-mine' })
  expect(made.error && made.text).toContain('Name starts with mcp-svc-')
  const deleted = await call('delete-access-key', { KeyID: id })
  expect(deleted.error && deleted.text).toContain('reserved for the tool server')
  expect(keys.has(id)).toBe(true)

  const own = addKey('ci')
  expect((await call('delete-access-key', { KeyID: own })).value).toMatchObject({ key_id: own })
  expect(keys.has(own)).toBe(false)
  for (const ExpiresIn of ['30m', '0h', 'soon'])
    expect((await call('create-access-key', { Name: 'x', ExpiresIn })).text).toContain('ExpiresIn')
})

test('an action is sent as the data plane takes it', async () => {
  const { call, sent } = cloud({
    'GET actions/tools/old': { name: 'old', exec: { kind: 'python:3.11' } },
    'GET actions/new': new Response('{"error":"gone","code":1}', { status: 404 }),
  })
  const limits = { timeout: 60000, memory: 256, logs: 10 }
  const put = async (args: object) => {
    const { error, text } = await call('create-or-update-action', { ActionName: 'new', ...args })
    return error ? text : sent.at(-1)?.body
  }
  expect(await put({ Kind: 'nodejs:20', Code: 'x', Main: 'go', Timeout: 100 })).toEqual({
    exec: { kind: 'nodejs:20', code: 'x', main: 'go' },
    limits: { ...limits, timeout: 100 },
  })
  expect(sent.at(-1)).toMatchObject({ method: 'PUT', query: { overwrite: 'true' } })
  expect(await put({ Code: 'x' })).toMatchObject({ exec: { kind: 'nodejs:20', code: 'x' } })
  expect(await put({ ActionName: 'old', PackageName: 'tools', Code: 'y' })).toMatchObject({
    exec: { kind: 'python:3.11', code: 'y' },
  })
  expect(await put({ Components: ['a', 'p/b', '/other/p/c'] })).toMatchObject({
    exec: {
      kind: 'sequence',
      components: [`/${namespace}/a`, `/${namespace}/p/b`, '/other/p/c'],
    },
  })
  expect(await put({ Kind: 'blackbox', Image: 'tools/x' })).toMatchObject({
    exec: { kind: 'blackbox', image: 'tools/x' },
  })
  const pair = [{ key: 'k', value: { deep: 1 } }]
  expect(await put({ Parameters: pair, Annotations: JSON.stringify(pair) })).toEqual({
    limits,
    parameters: pair,
    annotations: pair,
  })
  expect(await put({ Kind: 'sequence' })).toContain('Kind sequence needs Components')
  expect(await put({ Kind: 'blackbox' })).toContain('Kind blackbox needs Image')
  expect(await put({ Kind: 'nodejs:20' })).toContain('Kind needs Code')
  expect(await put({ Kind: 'nodejs:20', Image: 'x' })).toContain('Image goes with Kind blackbox')
  expect(await put({ Components: ['a'], Code: 'x' })).toContain('without Code')
})

test('a call tells what came of it: a record, a bare result, an id, or the failure of the action', async () => {
  const { call, sent } = cloud({
    'POST actions/hello': { activationId: 'a1', response: { success: true } },
    'POST actions/slow': Response.json({ activationId: 'a2' }, { status: 202 }),
    'POST actions/bad': Response.json(
      { activationId: 'a3', response: { success: false } },
      { status: 502, headers: { 'x-openwhisk-activation-id': 'a3' } },
    ),
  })
  const done = await call('invoke-action', { ActionName: 'hello', Payload: { name: 'Ada' } })
  expect(done.value).toMatchObject({ activationId: 'a1' })
  expect(sent.at(-1)).toMatchObject({
    query: { blocking: 'true', result: 'false', timeout: '60000' },
    body: { name: 'Ada' },
  })
  const slow = await call('invoke-action', { ActionName: 'slow', InvokeTimeout: 50 })
  expect(slow.text).toContain('still running after 50 ms')
  const bad = await call('invoke-action', { ActionName: 'bad' })
  expect(bad.error).toBe(false)
  expect(bad.text).toContain('The function failed (activation a3)')
  await call('invoke-action', { ActionName: 'hello', Blocking: 'false' })
  expect(sent.at(-1)?.query).toEqual({ blocking: 'false', result: 'false' })
  const long = await call('invoke-action', { ActionName: 'hello', InvokeTimeout: 60_001 })
  expect(long.text).toContain('InvokeTimeout must be at most 60000')
})

test('errors of the data plane reach the person as they were said', async () => {
  const { call } = cloud({
    'DELETE packages/tools': Response.json(
      { error: 'Package not empty (contains 2 entities).', code: 'tid-9' },
      { status: 409 },
    ),
  })
  const { error, text } = await call('delete-package', { PackageName: 'tools' })
  expect(error).toBe(true)
  expect(text).toContain('Package not empty (contains 2 entities).')
  expect(text).toContain('request tid-9')
})

test('a trigger update keeps what is not given', async () => {
  const current = { scheduled_details: { cron: '0 * * * *', body: { a: 1 } } }
  const { call, sent } = cloud({ 'GET /triggers/t': { trigger: current } })
  const update = async (args: object) => {
    const { error, text } = await call('update-trigger', { TriggerName: 't', ...args })
    return error ? text : sent.at(-1)?.body
  }
  expect(await update({ Body: { b: 2 } })).toEqual({
    scheduled_details: { cron: '0 * * * *', body: { b: 2 } },
  })
  expect(await update({ Cron: '5 * * * *' })).toEqual({
    scheduled_details: { cron: '5 * * * *', body: { a: 1 } },
  })
  expect(await update({ IsEnabled: false })).toEqual({ is_enabled: false })
  expect(await update({})).toContain('IsEnabled, Cron and Body')
})

test('activations are asked for by name, time and part', async () => {
  const { call, sent } = cloud({ 'GET activations': [{ activationId: 'a' }] })
  await call('list-activations', { FunctionName: 'p/a', Since: 5, Upto: 9, IncludeDocs: true })
  expect(sent.at(-1)?.query).toEqual({
    name: 'p/a',
    limit: '30',
    since: '5',
    upto: '9',
    docs: 'true',
  })
  await call('get-activation-logs', { ActivationID: 'abc' })
  expect(sent.at(-1)?.path).toBe(`/api/v1/namespaces/${namespace}/activations/abc/logs`)
  expect((await call('list-activations', { Limit: 201 })).text).toContain('at most 200')
})
