import { isIPv6 } from 'node:net'
import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { forgetInstance } from '../../networking/load-balancers/records.ts'
import { regionBySlug, regionSlugs } from '../regions/contract.ts'
import { sizeCatalogue, sizeSlugs } from '../sizes/catalogue.ts'
import { setTags, taggedWith, tagsOf } from '../tags/taggings.ts'
import { type DropletRecord, dropletRecords, droplets } from './contract.ts'

export const dropletService: Service = (on, { store, clock, actions }) => {
  const table = store.collection(dropletRecords)

  const find = async (id: string) => {
    const droplet = /^\d+$/.test(id) ? await table.get(Number(id)) : undefined
    if (!droplet) throw ApiError.notFound(`Droplet ${id}`)
    return droplet
  }

  const remove = (id: number) =>
    store.transaction(async (tx) => {
      await setTags(tx, 'droplet', String(id), [])
      await forgetInstance(tx, id)
      await tx.collection(dropletRecords).remove(id)
      await actions.record({ type: 'destroy', resource_type: 'droplet', resource_id: id }, tx)
    })

  on(droplets.list, async ({ query }) => {
    const tagged = query.tag_name && (await taggedWith(store, 'droplet', [query.tag_name]))
    const where = {
      ...(query.name ? { name: query.name } : {}),
      ...(tagged ? { id: tagged.map(Number) } : {}),
    }
    const page = pageOfItems('droplets', await table.list({ where }), query)
    return { ...page, droplets: await Promise.all(page.droplets.map((d) => asDroplet(store, d))) }
  })

  on(droplets.get, async ({ path }) => ({ droplet: await asDroplet(store, await find(path.id)) }))

  on(droplets.create, async ({ body, origin }) => {
    const { ip_address } = body
    if (ip_address === undefined) {
      throw ApiError.notServed(
        'This Cove makes no instances yet. Send ip_address to register a host that exists.',
      )
    }
    if (!sizeSlugs.includes(body.size)) {
      throw ApiError.invalid(`size must be one of ${sizeSlugs.join(', ')}.`)
    }
    const { record, action } = await store.transaction(async (tx) => {
      const id = await tx.nextId('droplets')
      const made = await tx.collection(dropletRecords).insert({
        id,
        name: body.name,
        region: body.region,
        size: body.size,
        status: 'active',
        created_at: timestamp(clock),
        ip_address,
        vpc_uuid: body.vpc_uuid ?? null,
      })
      await setTags(tx, 'droplet', String(id), body.tags ?? [])
      const what = { type: 'create', resource_type: 'droplet', resource_id: id }
      const done = await actions.record({ ...what, region_slug: body.region }, tx)
      return { record: made, action: done }
    })
    const href = `${origin}/v2/actions/${action.id}`
    return {
      droplet: await asDroplet(store, record),
      links: { actions: [{ id: action.id, rel: 'create', href }] },
    }
  })

  on(droplets.delete, async ({ path }) => remove((await find(path.id)).id))

  on(droplets.deleteByTag, async ({ query }) => {
    for (const id of await taggedWith(store, 'droplet', [query.tag_name])) await remove(Number(id))
  })
}

const asDroplet = async (store: Store, record: DropletRecord) => {
  const size = sizeCatalogue.find(({ slug }) => slug === record.size)
  const region = regionBySlug(record.region)
  if (!size || !region) throw new Error(`Droplet ${record.id} names an unknown size or region.`)
  const { id, name, status, created_at } = record
  return {
    id,
    name,
    memory: size.memory,
    vcpus: size.vcpus,
    disk: size.disk,
    locked: false,
    status,
    created_at,
    features: [],
    backup_ids: [],
    next_backup_window: null,
    snapshot_ids: [],
    image: {},
    volume_ids: [],
    size: { ...size, regions: [...regionSlugs] },
    size_slug: size.slug,
    networks: networksOf(record.ip_address),
    region,
    tags: await tagsOf(store, 'droplet', String(id)),
    ...(record.vpc_uuid ? { vpc_uuid: record.vpc_uuid } : {}),
  }
}

const networksOf = (address: string | null) => {
  if (address === null) return { v4: [], v6: [] }
  if (isIPv6(address)) {
    return {
      v4: [],
      v6: [{ ip_address: address, netmask: 128, gateway: address, type: 'public' as const }],
    }
  }
  const host = { ip_address: address, netmask: '255.255.255.255', gateway: address }
  return { v4: [{ ...host, type: 'public' as const }], v6: [] }
}
