import { collection } from '#core/collection.ts'
import type { InboundRule, OutboundRule, Peers } from './contract.ts'

/** A firewall as it is kept. */
export interface FirewallRecord {
  id: string
  name: string
  created_at: string
  inbound_rules: InboundRule[]
  outbound_rules: OutboundRule[]
  droplet_ids: number[]
  tags: string[]
  status: 'waiting' | 'succeeded' | 'failed'
  /** Counts what changes its effect: its own rules, and the tags and instances it names. */
  revision: number
  /** The revision that the kernel has. */
  applied: number
  /** The instances before which it stands in the kernel. */
  in_force: number[]
}

export const firewallRecords = collection<FirewallRecord>('firewalls', {
  called: 'Firewall',
  key: 'id',
  indexes: ['name'],
  reconciled: true,
})

/** One thing that a firewall names: how a change of a tag or an instance finds its firewalls. */
export interface FirewallLink {
  key: string
  firewall: string
  /** `tag:web`, `droplet:12`, `load_balancer:4de7…` */
  target: string
  /** Whether it stands before the target, or lets it through. */
  attached: boolean
}

export const firewallLinks = collection<FirewallLink>('firewall_links', {
  called: 'Firewall link',
  key: 'key',
  indexes: ['firewall', 'target', 'attached'],
})

const targetsOf = (peers: Peers): string[] => [
  ...(peers.tags ?? []).map((tag) => `tag:${tag}`),
  ...(peers.droplet_ids ?? []).map((id) => `droplet:${id}`),
  ...(peers.load_balancer_uids ?? []).map((id) => `load_balancer:${id}`),
]

export const linksOf = (record: FirewallRecord): FirewallLink[] => {
  const attached = targetsOf({ tags: record.tags, droplet_ids: record.droplet_ids })
  const peers = [
    ...record.inbound_rules.flatMap(({ sources }) => targetsOf(sources)),
    ...record.outbound_rules.flatMap(({ destinations }) => targetsOf(destinations)),
  ]
  const link = (target: string, isAttached: boolean): FirewallLink => ({
    key: `${record.id} ${isAttached ? 'before' : 'lets'} ${target}`,
    firewall: record.id,
    target,
    attached: isAttached,
  })
  return [
    ...[...new Set(attached)].map((target) => link(target, true)),
    ...[...new Set(peers)].map((target) => link(target, false)),
  ]
}
