import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Listening, listen } from '#cli/listen.ts'
import { type World, world } from '../../../test/world.ts'
import { namespaces } from './namespaces/contract.ts'

/** Another Cove stands for the cluster: all that is known of it is its address and one key. */
let cluster: World
let server: Listening
let cove: World
let namespace = ''
let there = ''

beforeAll(async () => {
  cluster = await world()
  server = await listen(cluster.cove.fetch, { host: '127.0.0.1', port: 0, anyPort: true })
  const made = (await cluster.api(namespaces.create, { body: { label: 'big', region: 'nyc1' } }))
    .namespace
  there = made.namespace
  cove = await world({ functions: { reserve: false } })
  const body = {
    label: 'elsewhere',
    region: 'nyc1',
    api_host: server.url,
    key: `${made.uuid}:${made.key}`,
  }
  namespace = (await cove.api(namespaces.create, { body })).namespace.namespace
})
afterAll(async () => {
  await cove.close()
  await server.close()
  await cluster.close()
})

const run = (name: string, args: Record<string, unknown> = {}) =>
  cove.tool(`functions-${name}`, { NamespaceID: namespace, ...args })

test('the same tools work on a cluster elsewhere', async () => {
  await run('create-or-update-package', { PackageName: 'tools' })
  const action = { ActionName: 'hello', PackageName: 'tools' }
  await run('create-or-update-action', {
    ...action,
    Code: 'const main = (a) => ({ hello: a.name })',
  })
  expect(await run('invoke-action', { ...action, Payload: { name: 'Ada' }, Result: true })).toEqual(
    {
      hello: 'Ada',
    },
  )
  const { activationId } = await run('invoke-action', { ...action, Blocking: false })
  await expect
    .poll(() => run('get-activation', { ActivationID: activationId }).catch(() => ({})), {
      timeout: 10_000,
    })
    .toMatchObject({ namespace: there, name: 'hello' })
  expect(await run('list-actions')).toMatchObject({ count: 1, actions: [{ name: 'hello' }] })
  const refused = await cove.refusal('functions-delete-package', {
    NamespaceID: namespace,
    PackageName: 'tools',
  })
  expect(refused).toContain('Package not empty')
  // It is there and not here, and the cluster's key never shows.
  expect(await cluster.tool('functions-list-actions', { NamespaceID: there })).toMatchObject({
    count: 1,
  })
  const shown = await run('get-namespace')
  expect(JSON.stringify(shown)).not.toContain('"key"')
})

test('schedules stay with Cove and fire there', async () => {
  await run('create-trigger', {
    Name: 'hourly',
    Function: 'tools/hello',
    Cron: '0 * * * *',
    Body: { name: 'cron' },
  })
  cove.clock.advance(3_600_000)
  await cove.settle()
  await expect
    .poll(async () => (await run('list-activations', { IncludeDocs: true })).activations, {
      timeout: 10_000,
    })
    .toContainEqual(
      expect.objectContaining({ response: expect.objectContaining({ result: { hello: 'cron' } }) }),
    )
})

test('a cluster that is gone is said so', async () => {
  await server.close()
  const refused = await cove.refusal('functions-list-actions', { NamespaceID: namespace })
  expect(refused).toContain(`${server.url} could not be reached`)
})
