import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { droplets } from './droplets/contract.ts'
import { regions } from './regions/contract.ts'
import { sizes } from './sizes/contract.ts'
import { tags } from './tags/contract.ts'

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

test('regions and sizes are a catalogue', async () => {
  const { regions: places } = await cove.api(regions.list, { query: { per_page: 200 } })
  const { sizes: offered } = await cove.api(sizes.list, { query: { per_page: 200 } })
  expect(places.map(({ slug }) => slug)).toContain('fra1')
  expect(offered).toContainEqual(
    expect.objectContaining({ slug: 's-1vcpu-1gb', memory: 1024, price_monthly: 6 }),
  )
})

test('a host is registered by its address, found by tag, and goes with its tags', async () => {
  const body = { name: 'web-1', region: 'nyc3', ip_address: '192.0.2.10', tags: ['web', 'prod'] }
  const { droplet } = await cove.api(droplets.create, { body })
  expect(droplet).toMatchObject({
    name: 'web-1',
    status: 'active',
    tags: ['web', 'prod'],
    networks: { v4: [{ ip_address: '192.0.2.10', type: 'public' }], v6: [] },
  })
  const other = await cove.api(droplets.create, {
    body: { name: 'db-1', ip_address: '2001:db8::7' },
  })
  expect(other.droplet.networks.v6).toMatchObject([{ ip_address: '2001:db8::7' }])

  const found = await cove.api(droplets.list, { query: { tag_name: 'web' } })
  expect(found.droplets.map(({ id }) => id)).toEqual([droplet.id])
  const resources = [{ resource_id: String(other.droplet.id), resource_type: 'droplet' as const }]
  await cove.api(tags.assign, { path: { name: 'prod' }, body: { resources } })
  const { tag } = await cove.api(tags.get, { path: { name: 'prod' } })
  expect(tag.resources.droplets).toMatchObject({ count: 2 })
  await cove.api(tags.unassign, { path: { name: 'prod' }, body: { resources } })

  await cove.api(droplets.deleteByTag, { query: { tag_name: 'prod' } })
  await expect(cove.api(droplets.get, { path: { id: droplet.id } })).rejects.toThrow(
    `Droplet ${droplet.id} was not found.`,
  )
  expect((await cove.api(tags.get, { path: { name: 'web' } })).tag.resources.count).toBe(0)
})

test('what cannot be is refused with what could', async () => {
  const create = (body: object) => cove.api(droplets.create, { body: body as { name: string } })
  await expect(create({ name: 'a b', ip_address: '192.0.2.1' })).rejects.toThrow(
    'name must be a host name',
  )
  await expect(create({ name: 'a', ip_address: '999.1.1.1' })).rejects.toThrow('ip_address')
  await expect(create({ name: 'a', ip_address: '192.0.2.1', size: 'huge' })).rejects.toThrow(
    'size must be',
  )
  await expect(create({ name: 'a', ip_address: '192.0.2.1', region: 'moon' })).rejects.toThrow(
    'region must be a region: nyc1',
  )
  await expect(cove.api(tags.create, { body: { name: 'a b' } })).rejects.toThrow(
    'name must be 1 to 255',
  )
  await expect(cove.api(tags.get, { path: { name: 'none' } })).rejects.toThrow(
    'Tag none was not found.',
  )
  const resources = [{ resource_id: '424242', resource_type: 'droplet' as const }]
  await cove.api(tags.create, { body: { name: 'real' } })
  await expect(
    cove.api(tags.assign, { path: { name: 'real' }, body: { resources } }),
  ).rejects.toThrow('Droplet 424242 was not found.')
})
