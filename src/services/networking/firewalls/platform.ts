import { messageOf } from '#core/error.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOf, pageOfItems } from '#platform/pages.ts'
import type { Step } from '#platform/reconcile.ts'
import type { Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { tagsOf } from '../../compute/tags/taggings.ts'
import { firewallSpec, noteStanding, standsBefore } from '../plan.ts'
import { type Firewall, firewalls, type NewFirewall } from './contract.ts'
import { firewallsBefore, removeFirewall, writeFirewall } from './links.ts'
import { type FirewallRecord, firewallRecords } from './records.ts'
import { checkNames, inboundOf, outboundOf, withoutRules, withRules } from './rules.ts'

export const firewallService =
  (fabric: Fabric): Service =>
  (on, kernel) => {
    const { store, clock, ids, actions } = kernel
    const table = store.collection(firewallRecords)

    const change = (id: string, edit: (current: FirewallRecord) => FirewallRecord) =>
      store.transaction(async (tx) => {
        const record = edit(await tx.collection(firewallRecords).require(id))
        await checkNames(tx, record)
        return writeFirewall(tx, record)
      })

    const shown = async (record: FirewallRecord, note: (text: string) => void) => {
      noteStanding(fabric, note)
      return asFirewall(store, record)
    }

    on(firewalls.list, async ({ query, note }) => {
      noteStanding(fabric, note)
      const page = await pageOf('firewalls', table, query)
      return {
        ...page,
        firewalls: await Promise.all(page.firewalls.map((each) => asFirewall(store, each))),
      }
    })

    on(firewalls.get, async ({ path, note }) => ({
      firewall: await shown(await table.require(path.id), note),
    }))

    on(firewalls.create, async ({ body, note }) => {
      const record = await store.transaction(async (tx) => {
        const made = { id: ids.uuid(), created_at: timestamp(clock), ...wantedOf(body), ...nothing }
        await checkNames(tx, made)
        const what = { type: 'create', resource_type: 'firewall', resource_id: made.id }
        await actions.record(what, tx)
        return writeFirewall(tx, made)
      })
      return { firewall: await shown(record, note) }
    })

    on(firewalls.update, async ({ path, body, note }) => {
      const record = await change(path.id, (current) => ({ ...current, ...wantedOf(body) }))
      return { firewall: await shown(record, note) }
    })

    on(firewalls.delete, async ({ path }) => {
      await store.transaction(async (tx) => {
        const { id } = await tx.collection(firewallRecords).require(path.id)
        await removeFirewall(tx, id)
        await actions.record({ type: 'destroy', resource_type: 'firewall', resource_id: id }, tx)
      })
      await fabric.change({ firewalls: { [path.id]: null } })
    })

    on(firewalls.ofDroplet, async ({ path, query, note }) => {
      const { id } = await store.collection(dropletRecords).require(Number(path.id))
      const found = await firewallsBefore(store, id, await tagsOf(store, 'droplet', String(id)))
      noteStanding(fabric, note)
      const all = await Promise.all(found.map((each) => asFirewall(store, each)))
      return pageOfItems('firewalls', all, query)
    })

    on(firewalls.addDroplets, async ({ path, body, note }) => {
      await change(path.id, (current) => ({
        ...current,
        droplet_ids: [...new Set([...current.droplet_ids, ...body.droplet_ids])],
      }))
      noteStanding(fabric, note)
    })

    on(firewalls.removeDroplets, async ({ path, body, note }) => {
      await change(path.id, (current) => ({
        ...current,
        droplet_ids: current.droplet_ids.filter((id) => !body.droplet_ids.includes(id)),
      }))
      noteStanding(fabric, note)
    })

    on(firewalls.addTags, async ({ path, body, note }) => {
      await change(path.id, (current) => ({
        ...current,
        tags: [...new Set([...current.tags, ...body.tags])],
      }))
      noteStanding(fabric, note)
    })

    on(firewalls.removeTags, async ({ path, body, note }) => {
      await change(path.id, (current) => ({
        ...current,
        tags: current.tags.filter((tag) => !body.tags.includes(tag)),
      }))
      noteStanding(fabric, note)
    })

    on(firewalls.addRules, async ({ path, body, note }) => {
      await change(path.id, (current) => ({
        ...current,
        inbound_rules: withRules(current.inbound_rules, inboundOf(body.inbound_rules)),
        outbound_rules: withRules(current.outbound_rules, outboundOf(body.outbound_rules)),
      }))
      noteStanding(fabric, note)
    })

    on(firewalls.removeRules, async ({ path, body, note }) => {
      const [less, lessOut] = [inboundOf(body.inbound_rules), outboundOf(body.outbound_rules)]
      await change(path.id, (current) => ({
        ...current,
        inbound_rules: withoutRules(current.inbound_rules, less, 'sources'),
        outbound_rules: withoutRules(current.outbound_rules, lessOut, 'destinations'),
      }))
      noteStanding(fabric, note)
    })

    kernel.reconcile(firewallRecords, async (record): Promise<Step<FirewallRecord>> => {
      const { spec, guarded } = await firewallSpec(store, record)
      try {
        await fabric.change({ firewalls: { [record.id]: spec } })
      } catch (error) {
        kernel.log.warn(`Firewall ${record.id} could not be put in force: ${messageOf(error)}`)
        return { change: (current) => ({ ...current, status: 'failed' }), again: retryAfter }
      }
      if (!fabric.standing().enforced) return {}
      const all = (await standsBefore(store, record)).length === guarded.length
      return {
        change: (current) => ({
          ...current,
          status: all ? 'succeeded' : 'waiting',
          applied: record.revision,
          in_force: guarded,
        }),
      }
    })
  }

/** ms */
const retryAfter = 5000

const nothing = { status: 'waiting' as const, revision: 0, applied: 0, in_force: [] }

const wantedOf = (body: NewFirewall) => ({
  name: body.name,
  inbound_rules: inboundOf(body.inbound_rules),
  outbound_rules: outboundOf(body.outbound_rules),
  droplet_ids: [...new Set(body.droplet_ids ?? [])],
  tags: [...new Set(body.tags ?? [])],
})

/** What is pending is what the kernel does not have yet, by instance. */
const asFirewall = async (store: Store, record: FirewallRecord): Promise<Firewall> => {
  const { revision, applied, in_force, ...firewall } = record
  const wanted = await standsBefore(store, record)
  const settled = revision === applied
  const status = record.status === 'failed' ? 'failed' : 'waiting'
  return {
    ...firewall,
    pending_changes: [
      ...wanted
        .filter((id) => !settled || !in_force.includes(id))
        .map((droplet_id) => ({ droplet_id, removing: false, status })),
      ...in_force
        .filter((id) => !wanted.includes(id))
        .map((droplet_id) => ({ droplet_id, removing: true, status })),
    ],
  }
}
