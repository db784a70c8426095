import openwhisk from 'openwhisk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listening, listen } from '#cli/listen.ts'
import { type World, world } from '../../../test/world.ts'
import { namespaces } from './namespaces/contract.ts'

let cove: World
let server: Listening
let namespace = ''
let credentials = ''
let client: openwhisk.Client

beforeAll(async () => {
  cove = await world()
  server = await listen(cove.cove.fetch, { host: '127.0.0.1', port: 0, anyPort: true })
  const body = { label: 'official', region: 'ams3' }
  const made = (await cove.api(namespaces.create, { body })).namespace
  namespace = made.namespace
  credentials = `${made.uuid}:${made.key}`
  client = openwhisk({ apihost: server.url, api_key: credentials, namespace: '_' })
})
afterAll(async () => {
  await server.close()
  await cove.close()
})

const raw = (path: string, init: RequestInit = {}) =>
  fetch(`${server.url}/api/v1${path}`, {
    ...init,
    headers: { authorization: `Basic ${btoa(credentials)}`, ...init.headers },
  })

describe('the official OpenWhisk client', () => {
  test('creates, calls, updates, lists and deletes', async () => {
    const action = 'const main = ({ name }) => ({ hello: name })'
    await client.actions.create({ name: 'hello', action, kind: 'nodejs:20' })
    await expect(client.actions.create({ name: 'hello', action })).rejects.toThrow(
      'resource already exists',
    )
    const result = await client.actions.invoke({
      name: 'hello',
      params: { name: 'Ada' },
      blocking: true,
      result: true,
    })
    expect(result).toEqual({ hello: 'Ada' })
    const updated = await client.actions.update({ name: 'hello', action, kind: 'nodejs:default' })
    expect(updated).toMatchObject({ version: '0.0.2', exec: { kind: 'nodejs:20' } })
    expect((await client.actions.list()).map(({ name }) => name)).toEqual(['hello'])
    const { activationId } = await client.actions.invoke({ name: 'hello' })
    await expect
      .poll(() => client.activations.result({ name: activationId }).catch(() => ({})))
      .toMatchObject({ result: {}, success: true })
    expect(await client.activations.logs({ name: activationId })).toEqual({ logs: [] })
    expect((await client.activations.list({ limit: 1 }))[0]).toMatchObject({ activationId })
    await client.actions.delete({ name: 'hello' })
    await expect(client.actions.get({ name: 'hello' })).rejects.toThrow('does not exist')
  })

  test('packages, bindings and sequences', async () => {
    const parameters = [{ key: 'greeting', value: 'Hi' }]
    await client.packages.create({ name: 'tools', package: { publish: true, parameters } } as never)
    await client.actions.update({
      name: 'tools/greet',
      action: 'const main = ({ greeting, name }) => ({ name: `${greeting} ${name}` })',
    })
    await client.packages.update({
      name: 'mine',
      package: {
        binding: { namespace: '_', name: 'tools' },
        parameters: [{ key: 'greeting', value: 'Yo' }],
      },
    } as never)
    await client.actions.update({
      name: 'twice',
      sequence: [`/${namespace}/mine/greet`, `/_/tools/greet`],
    } as never)
    const params = { name: 'Bo' }
    expect(
      await client.actions.invoke({ name: 'twice', params, blocking: true, result: true }),
    ).toEqual({ name: 'Hi Yo Bo' })
    await expect(client.packages.delete({ name: 'tools' })).rejects.toThrow('Package not empty')
  })

  test('a failing action is an error that carries the record', async () => {
    await client.actions.update({ name: 'bad', action: 'const main = () => ({ error: "no" })' })
    const error = await client.actions.invoke({ name: 'bad', blocking: true }).catch((e) => e)
    expect(error).toMatchObject({ statusCode: 502 })
    expect(error.error.response).toMatchObject({
      status: 'application error',
      result: { error: 'no' },
    })
  })
})

describe('the data plane over plain HTTP', () => {
  test('tells its kinds and limits to anyone', async () => {
    const info = (await (await fetch(`${server.url}/api/v1`)).json()) as { runtimes: object }
    expect(info).toMatchObject({
      api_paths: ['/api/v1'],
      limits: { max_action_memory: 1024 * 1024 * 1024, sequence_length: 50 },
    })
    const kinds = Object.values(info.runtimes as Record<string, { kind: string }[]>)
      .flat()
      .map(({ kind }) => kind)
    for (const kind of ['nodejs:20', 'python:3.11', 'php:default', 'go:default'])
      expect(kinds, `${kind} needs its Debian package: npm test installs it`).toContain(kind)
  })

  test('refuses with the words and codes that clients know', async () => {
    const refused = async (path: string, init?: RequestInit) => {
      const response = await raw(path, init)
      const { error, code } = (await response.json()) as { error: string; code: string }
      expect(code).toMatch(/^[0-9a-f]{32}$/)
      return [response.status, error]
    }
    const own = `/namespaces/${namespace}`
    expect(await refused(`${own}/actions?limit=201`)).toEqual([
      400,
      "The value '201' is not in the range of 0 to 200 for actions.",
    ])
    expect(await refused(`${own}/actions?limit=x`)).toEqual([
      400,
      "The value 'x' is not an integer for actions.",
    ])
    expect(await refused(`${own}/activations?docs=true&count=true`)).toEqual([
      400,
      expect.any(String),
    ])
    expect(await refused('/namespaces/other/actions')).toEqual([
      403,
      "The supplied authentication is not authorized to access 'other'.",
    ])
    expect(await refused(`${own}/actions/none`)).toEqual([
      404,
      'The requested resource does not exist.',
    ])
    expect(await refused(`${own}/actions/new`, { method: 'PUT', body: '{}' })).toEqual([
      400,
      'exec undefined',
    ])
    expect(await refused(`${own}/actions/new`, { method: 'PUT', body: '{' })).toEqual([
      400,
      expect.stringContaining('The request content was malformed'),
    ])
    expect(
      await refused(`${own}/actions/bad?blocking=true&timeout=60001`, { method: 'POST' }),
    ).toEqual([400, 'Timeout must be number of milliseconds up to 60000.'])
    const big = JSON.stringify({ x: 'y'.repeat(1024 * 1024) })
    expect(await refused(`${own}/actions/bad`, { method: 'POST', body: big })).toEqual([
      413,
      `Request larger than allowed: ${big.length} > 1048576 bytes.`,
    ])
    const wrong = { headers: { authorization: `Basic ${btoa('a:b')}` } }
    expect(await refused(`${own}/actions`, wrong)).toEqual([
      401,
      'The supplied authentication is invalid',
    ])
  })

  test('keeps final parameters, counts, and refuses what callers may not set', async () => {
    await client.actions.update({
      name: 'locked',
      action: 'const main = (a) => a',
      params: { secret: 1 },
      annotations: { final: true },
    } as never)
    const response = await raw(`/namespaces/_/actions/locked?blocking=true`, {
      method: 'POST',
      body: '{"secret": 2}',
    })
    const { error } = (await response.json()) as { error: string }
    expect([response.status, error]).toEqual([
      400,
      'Request defines parameters that are not allowed (e.g., reserved properties).',
    ])
    const counted = await (await raw('/namespaces/_/packages?count=true')).json()
    expect(counted).toEqual({ packages: 2 })
  })
})

describe('web actions', () => {
  const web = (path: string, init?: RequestInit) =>
    fetch(`${server.url}/api/v1/web/${namespace}/${path}`, init)
  const publish = (name: string, action: string, annotations: object = {}) =>
    client.actions.update({
      name,
      action,
      annotations: { 'web-export': true, ...annotations },
    } as never)

  test('answer what they say: status, headers, body', async () => {
    await publish(
      'page',
      'const main = (a) => ({ statusCode: 201, headers: { "x-a": "b", "content-type": "text/plain" }, body: `${a.__ow_method} ${a.__ow_path} ${a.q}` })',
    )
    const response = await web('default/page/more?q=1')
    expect(response.status).toBe(201)
    expect(response.headers.get('x-a')).toBe('b')
    expect(await response.text()).toBe('get /more 1')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect((await web('default/page', { method: 'OPTIONS' })).status).toBe(200)
  })

  test('take JSON, forms and raw bodies, and answer by extension', async () => {
    await publish('echo', 'const main = ({ __ow_headers, ...a }) => ({ ...a, html: "<b>x</b>" })')
    const json = await web('default/echo.json', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    })
    expect(await json.json()).toMatchObject({ a: 1, __ow_method: 'post' })
    const form = await web('default/echo.json', {
      method: 'POST',
      body: new URLSearchParams({ b: '2' }),
    })
    expect(await form.json()).toMatchObject({ b: '2' })
    const html = await web('default/echo.html')
    expect([html.headers.get('content-type'), await html.text()]).toEqual([
      'text/html; charset=UTF-8',
      '<b>x</b>',
    ])
    await publish('raw', 'const main = (a) => ({ body: { q: a.__ow_query, b: a.__ow_body } })', {
      'raw-http': true,
    })
    const raw = await web('default/raw?z=1', { method: 'POST', body: 'plain' })
    expect(await raw.json()).toEqual({ q: 'z=1', b: 'plain' })
  })

  test('are closed unless exported, and open only with their secret where they have one', async () => {
    await client.actions.update({ name: 'closed', action: 'const main = () => ({})' })
    expect((await web('default/closed')).status).toBe(404)
    expect((await web('default/nothing')).status).toBe(404)
    await publish('safe', 'const main = () => ({ body: "in" })', { 'require-whisk-auth': 'sesame' })
    expect((await web('default/safe')).status).toBe(401)
    const open = await web('default/safe', { headers: { 'x-require-whisk-auth': 'sesame' } })
    expect(await open.text()).toBe('in')
  })
})
