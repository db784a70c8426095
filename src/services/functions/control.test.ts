import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { accessKeys } from './keys/contract.ts'
import { namespaces } from './namespaces/contract.ts'
import { triggers } from './triggers/contract.ts'

let cove: World
beforeAll(async () => {
  cove = await world({ functions: { reserve: false } })
})
afterAll(() => cove.close())

const create = async (label = 'shop') =>
  (await cove.api(namespaces.create, { body: { label, region: 'nyc1' } })).namespace
const basic = (user: string, password: string) => ({
  headers: { authorization: `Basic ${btoa(`${user}:${password}`)}` },
})

test('a namespace is made, listed without its key, read with it, and deleted with all it has', async () => {
  const made = await create()
  expect(made).toMatchObject({
    namespace: `fn-${made.uuid}`,
    label: 'shop',
    region: 'nyc1',
    api_host: 'http://127.0.0.1:8787',
  })
  const path = { namespace_id: made.namespace }
  const { namespaces: all } = await cove.api(namespaces.list, {})
  expect(all.find(({ uuid }) => uuid === made.uuid)).toEqual({ ...made, key: undefined })
  expect((await cove.api(namespaces.get, { path })).namespace).toEqual(made)

  const own = basic(made.uuid, made.key ?? '')
  expect(await (await cove.fetch('/api/v1/namespaces', own)).json()).toEqual([made.namespace])

  await cove.tool('functions-create-or-update-action', {
    NamespaceID: made.namespace,
    ActionName: 'a',
    Code: 'const main = () => ({})',
  })
  await cove.tool('functions-delete-namespace', { NamespaceID: made.namespace })
  await expect(cove.api(namespaces.get, { path })).rejects.toThrow(
    `Namespace ${made.namespace} was not found.`,
  )
  const after = await cove.fetch('/api/v1/namespaces', own)
  expect(after.status).toBe(401)
  expect(after.headers.get('www-authenticate')).toBe('Basic realm="OpenWhisk secure realm"')
  expect(await after.json()).toMatchObject({ error: expect.any(String), code: expect.any(String) })
  expect(
    await cove.refusal('functions-create-namespace', { Label: 'x', Region: 'moon' }),
  ).toContain('region must be a region')
})

test('only function:admin sees keys or makes them', async () => {
  const { namespace } = await create()
  const path = { namespace_id: namespace }
  const reader = await cove.apiWith('function:read')
  await reader(namespaces.list, {})
  await expect(reader(namespaces.get, { path })).rejects.toThrow('lacks the scope function:admin')
  await expect(reader(accessKeys.create, { path, body: { name: 'k' } })).rejects.toThrow(
    'lacks the scope function:admin',
  )
  const admin = await cove.apiWith('function:admin')
  await admin(namespaces.get, { path })
  await admin(namespaces.list, {})
})

test('an access key opens the data plane until it expires or is revoked; its secret is told once', async () => {
  const { namespace } = await create()
  const path = { namespace_id: namespace }
  const args = { NamespaceID: namespace }
  const { access_key: key } = (await cove.tool('functions-create-access-key', {
    ...args,
    Name: 'ci',
    ExpiresIn: '2h',
  })) as { access_key: { id: string; secret: string; expires_at: string } }
  expect(key.id).toMatch(/^dof_v1_[0-9a-f]{32}$/)
  expect(Date.parse(key.expires_at) - cove.clock.now()).toBe(2 * 3_600_000)

  const listed = await cove.tool('functions-list-access-keys', args)
  expect(listed).toMatchObject({ count: 1, access_keys: [{ id: key.id, name: 'ci' }] })
  expect(JSON.stringify(listed)).not.toContain(key.secret)
  expect(await cove.refusal('functions-create-access-key', { ...args, Name: 'ci' })).toContain(
    'already exists',
  )

  const status = async () =>
    (await cove.fetch('/api/v1/namespaces/_/actions', basic(key.id, key.secret))).status
  expect(await status()).toBe(200)
  expect((await cove.fetch('/api/v1/namespaces', basic(key.id, 'wrong'))).status).toBe(401)
  cove.clock.advance(2 * 3_600_000)
  expect(await status()).toBe(401)

  const { access_key: next } = await cove.api(accessKeys.create, { path, body: { name: 'ci' } })
  expect(next.expires_at).toBeNull()
  const open = async () =>
    (await cove.fetch('/api/v1/namespaces', basic(next.id, next.secret))).status
  expect(await open()).toBe(200)
  const renamed = await cove.api(accessKeys.rename, {
    path: { ...path, key_id: next.id },
    body: { name: 'ci-2' },
  })
  expect(renamed.access_key.name).toBe('ci-2')
  await cove.tool('functions-delete-access-key', { ...args, KeyID: next.id })
  expect(await open()).toBe(401)

  await expect(
    cove.api(accessKeys.create, { path, body: { name: 'x', expires_in: '30m' } }),
  ).rejects.toMatchObject({ status: 400 })
})

test('an account has at most 200 access keys', async () => {
  const path = { namespace_id: (await create('many')).namespace }
  const { count } = await cove.api(accessKeys.list, { path })
  expect(count).toBe(0)
  let made = 0
  const error = await (async () => {
    for (; made <= 200; made++)
      await cove.api(accessKeys.create, { path, body: { name: `k${made}` } })
  })().catch((thrown: Error) => thrown)
  expect(String(error)).toContain('at most 200')
  expect(made).toBeGreaterThan(150)
  await cove.api(namespaces.delete, { path })
})

test('a trigger fires at its ticks, once, with its body; off it does not; a missed tick is made up for once', async () => {
  const { namespace } = await create()
  const args = { NamespaceID: namespace }
  const path = { namespace_id: namespace, trigger_name: 'hourly' }
  await cove.tool('functions-create-or-update-action', {
    ...args,
    ActionName: 'tick',
    Code: 'const main = (a) => a',
  })
  const { trigger } = (await cove.tool('functions-create-trigger', {
    ...args,
    Name: 'hourly',
    Function: 'tick',
    Cron: '0 * * * *',
    Body: { from: 'cron' },
  })) as { trigger: object }
  const start = Math.ceil(cove.clock.now() / 3_600_000) * 3_600_000
  const nextHour = start === cove.clock.now() ? start + 3_600_000 : start
  expect(trigger).toMatchObject({
    type: 'SCHEDULED',
    is_enabled: true,
    scheduled_details: { cron: '0 * * * *', body: { from: 'cron' } },
    scheduled_runs: { last_run_at: null, next_run_at: new Date(nextHour).toISOString() },
  })
  const runs = async () => {
    await cove.settle()
    const { activations } = (await cove.tool('functions-list-activations', {
      ...args,
      IncludeDocs: true,
    })) as { activations: { response: { result: unknown } }[] }
    return activations.map(({ response }) => response.result)
  }
  const until = (count: number) => expect.poll(runs, { timeout: 10_000 }).toHaveLength(count)

  expect(await runs()).toEqual([])
  cove.clock.advance(nextHour - cove.clock.now() - 1)
  expect(await runs()).toEqual([])
  cove.clock.advance(1)
  await until(1)
  expect(await runs()).toEqual([{ from: 'cron' }])
  cove.clock.advance(3_600_000)
  await until(2)

  await cove.tool('functions-update-trigger', { ...args, TriggerName: 'hourly', IsEnabled: false })
  const off = await cove.api(triggers.get, { path })
  expect(off.trigger.scheduled_runs.next_run_at).toBeNull()
  cove.clock.advance(5 * 3_600_000)
  await until(2)
  await cove.tool('functions-update-trigger', {
    ...args,
    TriggerName: 'hourly',
    IsEnabled: true,
    Cron: '30 * * * *',
    Body: { n: 2 },
  })
  // Five ticks pass while nobody looks: one call makes up for all of them.
  cove.clock.advance(5 * 3_600_000)
  await until(3)
  expect((await runs())[0]).toEqual({ n: 2 })
  const { trigger: now } = await cove.api(triggers.get, { path })
  expect(Date.parse(now.scheduled_runs.next_run_at ?? '')).toBeGreaterThan(cove.clock.now())
  await cove.tool('functions-delete-trigger', { ...args, TriggerName: 'hourly' })
  cove.clock.advance(5 * 3_600_000)
  await until(3)
})

test('a trigger that makes no sense is refused with what would', async () => {
  const { namespace } = await create()
  const args = { NamespaceID: namespace }
  await cove.tool('functions-create-or-update-action', {
    ...args,
    ActionName: 'tick',
    Code: 'const main = (a) => a',
  })
  const refuse = (more: object) =>
    cove.refusal('functions-create-trigger', {
      ...args,
      Name: 't',
      Function: 'tick',
      Cron: '* * * * *',
      ...more,
    })
  expect(await refuse({ Cron: '* * * *' })).toContain('must have five fields')
  expect(await refuse({ Cron: '* * * * * *' })).toContain('must have five fields')
  expect(await refuse({ Cron: '61 * * * *' })).toContain('is not a schedule')
  expect(await refuse({ Cron: '0 0 31 2 *' })).toContain('never comes')
  expect(await refuse({ Function: 'nothing' })).toContain('function "nothing" does not exist')
  const body = {
    name: 't',
    function: 'tick',
    type: 'WEBHOOK',
    is_enabled: true,
    scheduled_details: { cron: '* * * * *' },
  }
  await expect(
    cove.api(triggers.create, { path: { namespace_id: namespace }, body }),
  ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('SCHEDULED') })
})
