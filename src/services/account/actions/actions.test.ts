import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { droplets } from '../../compute/droplets/contract.ts'
import { actions } from './contract.ts'

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

test('every operation is in the log, newest first', async () => {
  const { droplet } = await cove.api(droplets.create, {
    body: { name: 'web-1', region: 'ams3', ip_address: '192.0.2.7', tags: ['web'] },
  })
  await cove.api(droplets.delete, { path: { id: droplet.id } })
  const { actions: log } = (await cove.tool('action-list')) as { actions: { id: number }[] }
  expect(log).toMatchObject([
    { type: 'destroy', resource_type: 'droplet', resource_id: droplet.id, status: 'completed' },
    { type: 'create', resource_type: 'droplet', region_slug: 'ams3', region: { slug: 'ams3' } },
  ])
  expect(await cove.tool('action-get', { ID: log[0]?.id })).toEqual({ action: log[0] })
  expect(await cove.refusal('action-get', { ID: 99999 })).toContain('Action 99999 was not found.')
})

test('an operation that takes time is in progress, then ended', async () => {
  const { actions: log } = cove.kernel
  const { id } = await log.begin({ type: 'resize', resource_type: 'database', resource_id: 'x' })
  expect(await cove.api(actions.get, { path: { id } })).toMatchObject({
    action: { status: 'in-progress', completed_at: null, resource_id: null },
  })
  await log.end(id, 'errored')
  expect(await cove.api(actions.get, { path: { id } })).toMatchObject({
    action: { status: 'errored', completed_at: expect.any(String) },
  })
})
