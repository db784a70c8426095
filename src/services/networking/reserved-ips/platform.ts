import { containsBlock, parseBlock } from '#core/cidr.ts'
import { ApiError } from '#core/error.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import { actionRecords } from '#platform/actions.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOf } from '#platform/pages.ts'
import type { Kernel, Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { tagsOf } from '../../compute/tags/taggings.ts'
import { prefixRecords } from '../byoip/records.ts'
import { touchFirewalls } from '../firewalls/links.ts'
import { hostName, noteStanding } from '../plan.ts'
import { assignableDroplet, checkUnlocked } from './assign.ts'
import { reservedIps, reservedIpv6s } from './contract.ts'
import { freeReserved, type ReservedRecord, reservedRecords } from './records.ts'
import { addressOf, asAddressAction, asReserved, asReserved6 } from './shape.ts'

/** Everything belongs to the one project of this account. */
const project = '00000000-0000-4000-8000-000000000001'

const urnOf = ({ number }: ReservedRecord): string => `cove:reserved_ip:${number}`

export const reservedIpService =
  (fabric: Fabric): Service =>
  (on, kernel) => {
    const { store } = kernel
    const table = store.collection(reservedRecords)
    const desk = createDesk(kernel)

    const find = async (text: string, family: 4 | 6) => {
      const record = await table.get(addressOf(text, family))
      if (!record) throw ApiError.notFound(`Reserved IP ${text}`)
      return record
    }

    const release = async (text: string, family: 4 | 6) => {
      const { ip } = await find(text, family)
      await store.transaction(async (tx) => {
        const record = await tx.collection(reservedRecords).require(ip)
        checkUnlocked(record)
        if (family === 6 && record.droplet_id !== null) {
          throw ApiError.invalid(
            `${ip} is assigned to droplet ${record.droplet_id}; unassign it first.`,
          )
        }
        await tx.collection(reservedRecords).remove(ip)
        const what = { type: 'destroy', resource_type: 'reserved_ip', resource_id: record.number }
        await kernel.actions.record({ ...what, region_slug: record.region }, tx)
      })
      await fabric.change({ translations: { [ip]: null } })
    }

    on(reservedIps.list, async ({ query }) => {
      const page = await pageOf('reserved_ips', table, query, { where: { family: 4 } })
      return {
        ...page,
        reserved_ips: await Promise.all(page.reserved_ips.map((each) => asReserved(store, each))),
      }
    })

    on(reservedIps.get, async ({ path, note }) => {
      noteStanding(fabric, note)
      return { reserved_ip: await asReserved(store, await find(path.ip, 4)) }
    })

    on(reservedIps.create, async ({ body, note, origin }) => {
      const record = await store.transaction(async (tx) => {
        const ip = await freeReserved(tx, 4)
        if (!body.droplet_id) return desk.insert(tx, ip, body.region ?? '')
        const { region } = await desk.dropletOf(tx, { ip, family: 4 }, body.droplet_id)
        await desk.insert(tx, ip, region)
        return desk.begin(tx, ip, body.droplet_id)
      })
      noteStanding(fabric, note)
      const { pending } = record
      const link = (kind: string, id: number) => ({
        id,
        rel: kind,
        href: `${origin}/v2/${kind}/${id}`,
      })
      return {
        reserved_ip: await asReserved(store, record),
        ...(pending?.droplet_id && {
          links: {
            droplets: [link('droplets', pending.droplet_id)],
            actions: [link('actions', pending.action)],
          },
        }),
      }
    })

    on(reservedIps.delete, ({ path }) => release(path.ip, 4))

    on(reservedIps.act, async ({ path, body, note }) => {
      noteStanding(fabric, note)
      return desk.act(addressOf(path.ip, 4), body.type === 'assign' ? (body.droplet_id ?? 0) : null)
    })

    on(reservedIps.actions, async ({ path, query }) => {
      const record = await find(path.ip, 4)
      const all = store.collection(actionRecords)
      const where = { urn: urnOf(record) }
      const page = await pageOf('actions', all, query, { where, newestFirst: true })
      return { ...page, actions: page.actions.map((action) => asAddressAction(action, record)) }
    })

    on(reservedIps.action, async ({ path }) => {
      const record = await find(path.ip, 4)
      const action = await store.collection(actionRecords).get(Number(path.action))
      if (action?.urn !== urnOf(record)) {
        throw ApiError.notFound(`Action ${path.action} of ${record.ip}`)
      }
      return { action: asAddressAction(action, record) }
    })

    on(reservedIpv6s.list, async ({ query }) => {
      const page = await pageOf('reserved_ipv6s', table, query, { where: { family: 6 } })
      const all = page.reserved_ipv6s.map((each) => asReserved6(store, each))
      return { ...page, reserved_ipv6s: await Promise.all(all) }
    })

    on(reservedIpv6s.get, async ({ path, note }) => {
      noteStanding(fabric, note)
      return { reserved_ipv6: await asReserved6(store, await find(path.ip, 6)) }
    })

    on(reservedIpv6s.create, async ({ body, note }) => {
      noteStanding(fabric, note)
      const record = await store.transaction(async (tx) =>
        desk.insert(tx, await freeReserved(tx, 6), body.region_slug),
      )
      return { reserved_ipv6: await asReserved6(store, record) }
    })

    on(reservedIpv6s.delete, ({ path }) => release(path.ip, 6))

    on(reservedIpv6s.act, async ({ path, body, note }) => {
      noteStanding(fabric, note)
      return desk.act(addressOf(path.ip, 6), body.type === 'assign' ? (body.droplet_id ?? 0) : null)
    })

    kernel.reconcile(reservedRecords, async ({ ip, pending }) => {
      if (!pending) return {}
      const { action, droplet_id } = pending
      const host = droplet_id === null ? null : { host: hostName(droplet_id) }
      await fabric.change({ translations: { [ip]: host } })
      await kernel.actions.end(action, 'completed')
      return { change: (current) => desk.settled(current, droplet_id) }
    })
  }

/** What is done with addresses inside a transaction. */
const createDesk = ({ store, clock, actions }: Kernel) => {
  const insert = async (tx: Store, ip: string, region: string, byoip: string | null = null) =>
    tx.collection(reservedRecords).insert({
      ip,
      family: ip.includes(':') ? 6 : 4,
      number: await tx.nextId('reserved_ips'),
      region,
      project_id: project,
      droplet_id: null,
      reserved_at: timestamp(clock),
      assigned_at: null,
      byoip,
      pending: null,
    })

  /** An address of a prefix that was brought here is reserved by being used. */
  const reservedOrBrought = async (tx: Store, ip: string): Promise<ReservedRecord> => {
    const record = await tx.collection(reservedRecords).get(ip)
    if (record) return record
    const brought = (await tx.collection(prefixRecords).list({ where: { status: 'active' } })).find(
      ({ prefix }) => containsBlock(parseBlock(prefix), parseBlock(ip)),
    )
    if (!brought) throw ApiError.notFound(`Reserved IP ${ip}`)
    return insert(tx, ip, brought.region, brought.uuid)
  }

  /** Firewalls that name the instance, or a tag of it, must know the address too. */
  const touch = async (tx: Store, droplets: readonly (number | null)[]) => {
    for (const id of droplets) {
      if (id === null) continue
      const tags = await tagsOf(tx, 'droplet', String(id))
      await touchFirewalls(tx, [`droplet:${id}`, ...tags.map((tag) => `tag:${tag}`)])
    }
  }

  const begin = async (tx: Store, ip: string, droplet_id: number | null) => {
    const table = tx.collection(reservedRecords)
    const record = await table.require(ip)
    const type = droplet_id === null ? 'unassign_ip' : 'assign_ip'
    const what = { type, resource_type: 'reserved_ip', resource_id: record.number }
    const action = await actions.begin({ ...what, region_slug: record.region }, tx)
    await touch(tx, [record.droplet_id, droplet_id])
    return table.update(ip, (current) => ({
      ...current,
      droplet_id,
      pending: { action: action.id, droplet_id },
    }))
  }

  return {
    insert,
    begin,
    /** The instance that a new address goes to decides its region. */
    async dropletOf(tx: Store, place: { ip: string; family: 4 | 6 }, id: number) {
      const droplet = await tx.collection(dropletRecords).get(id)
      return assignableDroplet(tx, { ...place, region: droplet?.region ?? '' }, id)
    },
    act: (ip: string, droplet: number | null) =>
      store.transaction(async (tx) => {
        const record = await reservedOrBrought(tx, ip)
        checkUnlocked(record)
        if (droplet !== null) await assignableDroplet(tx, record, droplet)
        else if (record.droplet_id === null) {
          throw ApiError.invalid(`${ip} is not assigned to any instance.`)
        }
        const { pending } = await begin(tx, ip, droplet)
        const action = await tx.collection(actionRecords).require(pending?.action ?? 0)
        return { action: asAddressAction(action, record) }
      }),
    settled: (current: ReservedRecord, droplet_id: number | null): ReservedRecord => ({
      ...current,
      pending: null,
      assigned_at: droplet_id === null ? null : timestamp(clock),
    }),
  }
}
