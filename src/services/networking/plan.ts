import type { Change, Firewall, Host, Rule } from '#engines/fabric/desired.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import type { Store } from '#platform/store/store.ts'
import { type DropletRecord, dropletRecords } from '../compute/droplets/contract.ts'
import { taggedWith, tagsOf } from '../compute/tags/taggings.ts'
import type { Peers } from './firewalls/contract.ts'
import { firewallsBefore } from './firewalls/links.ts'
import { type FirewallRecord, firewallRecords } from './firewalls/records.ts'
import { balancerAddress, balancerRecords } from './load-balancers/records.ts'
import { reservedRecords } from './reserved-ips/records.ts'
import { type PeeringRecord, peeringRecords } from './vpc-peerings/records.ts'
import type { Vpc } from './vpcs/contract.ts'
import { vpcRecords } from './vpcs/records.ts'

/** From what the store says to what the fabric should be. */

/** Says beside an answer that it is a record only, and why. */
export const noteStanding = (fabric: Fabric, note: (text: string) => void): void => {
  const { enforced, reason } = fabric.standing()
  if (!enforced) note(`Recorded, not enforced: ${reason}.`)
}

/** The name of an instance's host in the fabric. */
export const hostName = (id: number): string => `i${id}`

const hostOf = (record: DropletRecord): Host | undefined =>
  record.public_ip
    ? {
        public: record.public_ip,
        ...(record.private_ip && { private: record.private_ip }),
        ...(record.public_ipv6 && { public6: record.public_ipv6 }),
      }
    : undefined

/** Everything that must be there when an instance comes up. */
export const arrival = async (store: Store, record: DropletRecord): Promise<Change> => {
  const host = hostOf(record)
  if (!host) return {}
  const guards = await firewallsBefore(
    store,
    record.id,
    await tagsOf(store, 'droplet', String(record.id)),
  )
  const reserved = await store
    .collection(reservedRecords)
    .list({ where: { droplet_id: record.id } })
  const specs = await Promise.all(guards.map((each) => firewallSpec(store, each)))
  return {
    hosts: { [hostName(record.id)]: host },
    firewalls: Object.fromEntries(guards.map(({ id }, at) => [id, specs[at]?.spec ?? null])),
    translations: Object.fromEntries(reserved.map(({ ip }) => [ip, { host: hostName(record.id) }])),
  }
}

export const linkOfVpc = ({ id, ip_range }: Vpc): Change['links'] => ({
  [id]: { from: ip_range, to: ip_range },
})

export const linkOfPeering = async (
  store: Store,
  { id, one, other, status }: PeeringRecord,
): Promise<NonNullable<Change['links']>> => {
  const [from, to] = await Promise.all(
    [one, other].map((vpc) => store.collection(vpcRecords).get(vpc)),
  )
  const linked = from && to && status !== 'DELETING'
  return { [id]: linked ? { from: from.ip_range, to: to.ip_range } : null }
}

/** The instances that a firewall is attached to, by number or tag, as things stand. */
export const standsBefore = async (store: Store, record: FirewallRecord): Promise<number[]> => {
  const tagged = await taggedWith(store, 'droplet', record.tags)
  return [...new Set([...record.droplet_ids, ...tagged.map(Number)])].sort((a, b) => a - b)
}

/** A firewall with all names resolved, and the instances it can really guard. */
export const firewallSpec = async (
  store: Store,
  record: FirewallRecord,
): Promise<{ spec: Firewall; guarded: number[] }> => {
  const attached = await dropletsOf(store, await standsBefore(store, record))
  const guarded = attached.filter((droplet) => hostOf(droplet)).map(({ id }) => id)
  const rules = (wanted: readonly { protocol: Rule['protocol']; ports: string; peers: Peers }[]) =>
    Promise.all(
      wanted.map(async ({ protocol, ports, peers }) => ({
        protocol,
        ports: portsOf(ports),
        peers: await addressesOf(store, peers),
      })),
    )
  return {
    guarded,
    spec: {
      inbound: await rules(record.inbound_rules.map((r) => ({ ...r, peers: r.sources }))),
      outbound: await rules(record.outbound_rules.map((r) => ({ ...r, peers: r.destinations }))),
      hosts: guarded.map(hostName),
    },
  }
}

const dropletsOf = async (store: Store, ids: readonly number[]): Promise<DropletRecord[]> =>
  ids.length === 0 ? [] : store.collection(dropletRecords).list({ where: { id: ids } })

const portsOf = (text: string): [number, number] => {
  if (text === '0') return [0, 65_535]
  const [first = 0, last = first] = text.split('-').map(Number)
  return [first, last]
}

/** An instance is known by all its addresses, also by one reserved for it. */
const addressesOf = async (store: Store, peers: Peers): Promise<string[]> => {
  const tagged = await taggedWith(store, 'droplet', peers.tags ?? [])
  const ids = [...(peers.droplet_ids ?? []), ...tagged.map(Number)]
  const droplets = await dropletsOf(store, ids)
  const reserved =
    ids.length === 0
      ? []
      : await store.collection(reservedRecords).list({ where: { droplet_id: ids } })
  const own = droplets.flatMap(({ private_ip, public_ip, public_ipv6, ip_address }) =>
    [private_ip, public_ip, public_ipv6, ip_address].filter((each) => typeof each === 'string'),
  )
  const uids = peers.load_balancer_uids ?? []
  const balancers =
    uids.length === 0 ? [] : await store.collection(balancerRecords).list({ where: { id: uids } })
  return [
    ...(peers.addresses ?? []),
    ...own,
    ...reserved.map(({ ip }) => ip),
    ...balancers.map(({ address }) => balancerAddress(address)),
  ]
}

/** The whole network, as it should be when Cove starts. */
export const wholeNetwork = async (store: Store): Promise<Change> => {
  const [droplets, vpcs, peerings, firewalls, reserved] = await Promise.all([
    store.collection(dropletRecords).list(),
    store.collection(vpcRecords).list(),
    store.collection(peeringRecords).list(),
    store.collection(firewallRecords).list(),
    store.collection(reservedRecords).list(),
  ])
  const links = await Promise.all(peerings.map((peering) => linkOfPeering(store, peering)))
  const specs = await Promise.all(firewalls.map((each) => firewallSpec(store, each)))
  return {
    hosts: Object.fromEntries(
      droplets.flatMap((droplet) => {
        const host = hostOf(droplet)
        return host ? [[hostName(droplet.id), host]] : []
      }),
    ),
    links: Object.assign({}, ...vpcs.map(linkOfVpc), ...links),
    firewalls: Object.fromEntries(firewalls.map(({ id }, at) => [id, specs[at]?.spec ?? null])),
    translations: Object.fromEntries(
      reserved.flatMap(({ ip, droplet_id }) =>
        droplet_id === null ? [] : [[ip, { host: hostName(droplet_id) }]],
      ),
    ),
  }
}
