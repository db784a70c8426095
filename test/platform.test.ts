import { afterAll, beforeAll, expect, test } from 'vitest'
import { noteHeader } from '#client/client.ts'
import { actions } from '#services/account/actions/contract.ts'
import { billing } from '#services/account/billing/contract.ts'
import { keys } from '#services/account/keys/contract.ts'
import { tokens } from '#services/cove/tokens/contract.ts'
import { type World, world } from './world.ts'

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

test('a refusal has an id, a message and the id of the request', async () => {
  const response = await cove.fetch('/v2/account/keys/77')
  expect(response.status).toBe(404)
  const body = await response.json()
  expect(body).toEqual({
    id: 'not_found',
    message: 'SSH key 77 was not found.',
    request_id: response.headers.get('x-request-id'),
  })
})

test('no token, a wrong token and an unknown path are told apart', async () => {
  const without = await cove.fetch('/v2/account', { headers: { authorization: '' } })
  expect(without.status).toBe(401)
  const wrong = await cove.fetch('/v2/account', { headers: { authorization: 'Bearer nonsense' } })
  expect(await wrong.json()).toMatchObject({
    id: 'unauthorized',
    message: /unknown, expired or revoked/,
  })
  expect((await cove.fetch('/v2/nothing')).status).toBe(404)
})

test('bad input names the field and the rule', async () => {
  const cases: [RequestInit, string, number][] = [
    [json({}), 'name is required; public_key is required.', 422],
    [json({ name: 7, public_key: 'x' }), 'name must be text.', 422],
    [json('{"name":'), 'The request body is not valid JSON.', 400],
    [json('[]'), 'input must be an object.', 422],
  ]
  for (const [init, message, status] of cases) {
    const response = await cove.fetch('/v2/account/keys', init)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ message })
  }
})

test('pages are bounded', async () => {
  for (const [query, message] of [
    ['page=0', 'page must be at least 1.'],
    ['page=-5', 'page must be at least 1.'],
    ['per_page=201', 'per_page must be at most 200.'],
    ['page=abc', 'page must be a number.'],
    ['page=1e400', 'page must be a number.'],
  ]) {
    const response = await cove.fetch(`/v2/actions?${query}`)
    expect(await response.json()).toMatchObject({ message })
  }
  const beyond = await cove.fetch('/v2/actions?page=999999999')
  expect(await beyond.json()).toMatchObject({ actions: [] })
})

test('a body that is too large is refused before it is read', async () => {
  const response = await cove.fetch(
    '/v2/account/keys',
    json({ name: 'x'.repeat(9_000_000), public_key: 'x' }),
  )
  expect(response.status).toBe(413)
  expect((await cove.fetch('/v2/account')).status).toBe(200)
})

test('a token does what its scopes say, and no more', async () => {
  const reader = await cove.apiWith('ssh_key:read')
  await expect(reader(keys.list, {})).resolves.toHaveProperty('ssh_keys')
  await expect(reader(keys.delete, { path: { id: 1 } })).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('lacks the scope ssh_key:delete'),
  })
  const writer = await cove.apiWith('ssh_key:write')
  await expect(writer(keys.delete, { path: { id: 1 } })).rejects.toMatchObject({ status: 404 })
  await expect(writer(keys.list, {})).rejects.toMatchObject({ status: 403 })
  const old = await cove.apiWith('actions_read')
  await expect(old(actions.list, {})).resolves.toHaveProperty('actions')
})

test('an expired and a revoked token are refused at once', async () => {
  const { token } = await cove.api(tokens.create, {
    body: { name: 'brief', scopes: ['actions:read'], expires_in_seconds: 60 },
  })
  const ask = () =>
    cove.fetch('/v2/actions', { headers: { authorization: `Bearer ${token.secret}` } })
  expect((await ask()).status).toBe(200)
  cove.clock.advance(61_000)
  expect((await ask()).status).toBe(401)

  const { token: second } = await cove.api(tokens.create, {
    body: { name: 'second', scopes: ['actions:read'] },
  })
  await cove.api(tokens.revoke, { path: { id: second.id } })
  const after = await cove.fetch('/v2/actions', {
    headers: { authorization: `Bearer ${second.secret}` },
  })
  expect(after.status).toBe(401)
})

test('an unknown scope is refused with the valid ones', async () => {
  await expect(
    cove.api(tokens.create, { body: { name: 'x', scopes: ['ssh_key:fly'] } }),
  ).rejects.toThrow(
    'Valid: ssh_key:create, ssh_key:delete, ssh_key:read, ssh_key:update, ssh_key:write',
  )
})

test('the secret of a token is kept nowhere', async () => {
  const { token } = await cove.api(tokens.create, {
    body: { name: 'kept', scopes: ['actions:read'] },
  })
  const { tokens: all } = await cove.api(tokens.list, {})
  expect(JSON.stringify(all)).not.toContain(token.secret)
})

test('what is estimated says so beside the answer', async () => {
  const response = await cove.fetch('/v2/customers/my/balance')
  expect(decodeURIComponent(response.headers.get(noteHeader) ?? '')).toContain('estimate')
  const result = await cove.call('balance-get')
  expect(result.content[1]?.text).toContain('Note: These amounts are an estimate')
  expect(await cove.api(billing.balance, {})).toMatchObject({ month_to_date_usage: '0.00' })
})

test('the contract describes itself', async () => {
  const document = (await (await cove.fetch('/v2/openapi.json')).json()) as {
    paths: Record<string, Record<string, { security: unknown; 'x-cove'?: boolean }>>
  }
  expect(document.paths['/v2/account/keys/{id}']?.delete?.security).toEqual([
    { bearer: ['ssh_key:delete'] },
  ])
  expect(document.paths['/v2/cove/status']?.get?.['x-cove']).toBe(true)
})

test('a token that asks too often is told when to come back', async () => {
  const limited = await world({ rateLimit: 3 })
  const ask = () => limited.fetch('/v2/regions')
  const first = await ask()
  expect(first.headers.get('ratelimit-limit')).toBe('3')
  expect(first.headers.get('ratelimit-remaining')).toBe('2')
  await ask()
  await ask()
  const refused = await ask()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await refused.json()).toMatchObject({
    id: 'too_many_requests',
    message: 'More than 3 requests in a minute. Try again in 60 s.',
  })
  limited.clock.advance(60_000)
  expect((await ask()).status).toBe(200)
  await limited.close()
})

test('a service that cannot start is told, and the others run', async () => {
  const failing = await world({
    services: [(_on, kernel) => kernel.onStart(() => Promise.reject(new Error('no such program')))],
  })
  expect(failing.cove.status().services).toContainEqual({
    name: 'start-up',
    state: 'failed',
    enforced: false,
    reason: 'no such program',
  })
  expect((await failing.fetch('/v2/account')).status).toBe(200)
  await failing.close()
})
