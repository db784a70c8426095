import { ApiError } from '#core/error.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Kernel, Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { detachFromAll } from '../../networking/firewalls/links.ts'
import { forgetInstance } from '../../networking/load-balancers/records.ts'
import { arrival, hostName, noteStanding } from '../../networking/plan.ts'
import { freeTheAddresses } from '../../networking/reserved-ips/records.ts'
import { vpcForInstance } from '../../networking/vpcs/records.ts'
import { sizeSlugs } from '../sizes/catalogue.ts'
import { setTags, taggedWith } from '../tags/taggings.ts'
import { freePrivateAddress, freePublicAddress, publicAddress6 } from './addresses.ts'
import { type DropletRecord, dropletRecords, droplets } from './contract.ts'
import { asDroplet } from './shape.ts'

export const dropletService =
  (fabric: Fabric): Service =>
  (on, kernel) => {
    const { store, clock, actions } = kernel
    const table = store.collection(dropletRecords)

    const find = async (id: string) => {
      const droplet = /^\d+$/.test(id) ? await table.get(Number(id)) : undefined
      if (!droplet) throw ApiError.notFound(`Droplet ${id}`)
      return droplet
    }

    /** Once it is committed a crash changes nothing: what is not recorded is cleaned at the start. */
    const remove = async (id: number) => {
      const freed = await store.transaction(async (tx) => {
        await setTags(tx, 'droplet', String(id), [])
        await forgetInstance(tx, id)
        await tx.collection(dropletRecords).remove(id)
        await detachFromAll(tx, { droplet: id })
        await actions.record({ type: 'destroy', resource_type: 'droplet', resource_id: id }, tx)
        return freeTheAddresses(tx, id)
      })
      await fabric.change({
        hosts: { [hostName(id)]: null },
        translations: Object.fromEntries(freed.map((ip) => [ip, null])),
      })
    }

    on(droplets.list, async ({ query }) => {
      const tagged = query.tag_name && (await taggedWith(store, 'droplet', [query.tag_name]))
      const where = {
        ...(query.name ? { name: query.name } : {}),
        ...(tagged ? { id: tagged.map(Number) } : {}),
      }
      const page = pageOfItems('droplets', await table.list({ where }), query)
      return { ...page, droplets: await Promise.all(page.droplets.map((d) => asDroplet(store, d))) }
    })

    on(droplets.get, async ({ path, note }) => {
      const droplet = await find(path.id)
      if (droplet.ip_address === null) noteStanding(fabric, note)
      return { droplet: await asDroplet(store, droplet) }
    })

    on(droplets.create, async ({ body, note, origin }) => {
      if (!sizeSlugs.includes(body.size)) {
        throw ApiError.invalid(`size must be one of ${sizeSlugs.join(', ')}.`)
      }
      const { record, action } = await store.transaction(async (tx) => {
        const id = await tx.nextId('droplets')
        const base = {
          id,
          name: body.name,
          region: body.region,
          size: body.size,
          created_at: timestamp(clock),
        }
        const what = { type: 'create', resource_type: 'droplet', resource_id: id }
        const subject = { ...what, region_slug: body.region }
        await setTags(tx, 'droplet', String(id), body.tags ?? [])
        if (body.ip_address !== undefined) {
          const { ip_address } = body
          const vpc_uuid = body.vpc_uuid ?? null
          const host = { ...base, status: 'active' as const, ip_address, vpc_uuid }
          return {
            action: await actions.record(subject, tx),
            record: await tx.collection(dropletRecords).insert(host),
          }
        }
        const vpc = await vpcForInstance(tx, kernel, body.region, body.vpc_uuid)
        const action = await actions.begin(subject, tx)
        const instance = await tx.collection(dropletRecords).insert({
          ...base,
          status: 'new',
          ip_address: null,
          vpc_uuid: vpc.id,
          private_ip: await freePrivateAddress(tx, vpc),
          public_ip: await freePublicAddress(tx),
          public_ipv6: body.ipv6 ? publicAddress6(id) : null,
          action_id: action.id,
        })
        return { action, record: instance }
      })
      if (record.ip_address === null) noteStanding(fabric, note)
      const href = `${origin}/v2/actions/${action.id}`
      return {
        droplet: await asDroplet(store, record),
        links: { actions: [{ id: action.id, rel: 'create', href }] },
      }
    })

    on(droplets.delete, async ({ path }) => remove((await find(path.id)).id))

    on(droplets.deleteByTag, async ({ query }) => {
      for (const id of await taggedWith(store, 'droplet', [query.tag_name]))
        await remove(Number(id))
    })

    on(droplets.entry, async ({ path }) => {
      const { id, ip_address } = await find(path.id)
      const command = fabric.entry(hostName(id))
      if (command) return { command }
      throw ApiError.conflict(
        ip_address === null
          ? `Droplet ${id} has no network on this machine: ${fabric.standing().reason ?? 'it is being made'}.`
          : `Droplet ${id} is a host elsewhere, at ${ip_address}; commands run in instances made here.`,
      )
    })

    kernel.reconcile(dropletRecords, (record) => bringUp(record, fabric, store, kernel))
  }

/** Firewalls come before the host they guard. */
const bringUp = async (
  record: DropletRecord,
  fabric: Fabric,
  store: Store,
  { actions }: Kernel,
) => {
  if (record.ip_address !== null) return {}
  const { enforced } = fabric.standing()
  if (enforced) await fabric.change(await arrival(store, record))
  if (record.action_id) await actions.end(record.action_id, 'completed')
  return {
    change: (current: DropletRecord): DropletRecord => ({
      ...current,
      status: enforced ? 'active' : 'new',
      action_id: null,
    }),
  }
}
