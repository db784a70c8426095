import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { tagNames } from '../../compute/tags/contract.ts'
import type { InboundRule, OutboundRule, Peers } from './contract.ts'

/** All ports are written `0`, and ICMP has none. */
const ports = (rule: { protocol: string; ports: string }): string =>
  rule.protocol === 'icmp' || rule.ports === 'all' || rule.ports === '' ? '0' : rule.ports

const lists = ['addresses', 'droplet_ids', 'load_balancer_uids', 'tags'] as const

/** Without empty lists; a rule must let somebody through. */
const peersOf = (peers: Peers, where: string): Peers => {
  if (peers.kubernetes_ids?.length) {
    throw ApiError.badRequest(`${where}.kubernetes_ids names a cluster, and this cloud has none.`)
  }
  const given = lists.flatMap((list) => (peers[list]?.length ? [[list, peers[list]]] : []))
  if (given.length > 0) return Object.fromEntries(given)
  throw ApiError.badRequest(
    `${where} must name at least one of addresses, droplet_ids, load_balancer_uids and tags.`,
  )
}

export const inboundOf = (rules: readonly InboundRule[] | null | undefined): InboundRule[] =>
  (rules ?? []).map((rule) => ({
    protocol: rule.protocol,
    ports: ports(rule),
    sources: peersOf(rule.sources, 'inbound_rules.sources'),
  }))

export const outboundOf = (rules: readonly OutboundRule[] | null | undefined): OutboundRule[] =>
  (rules ?? []).map((rule) => ({
    protocol: rule.protocol,
    ports: ports(rule),
    destinations: peersOf(rule.destinations, 'outbound_rules.destinations'),
  }))

interface Shared {
  protocol: string
  ports: string
}

const key = (rule: Shared): string => JSON.stringify(rule)

/** The rules with some more; what is there already is not there twice. */
export const withRules = <R extends Shared>(present: readonly R[], more: readonly R[]): R[] => [
  ...new Map([...present, ...more].map((rule) => [key(rule), rule])).values(),
]

/** The rules without some: a rule goes, or keeps the peers that are not named. */
export const withoutRules = <R extends Shared>(
  present: readonly R[],
  less: readonly R[],
  end: keyof R & string,
): R[] => {
  let rest = [...present]
  for (const rule of less) {
    const at = rest.findIndex(
      (each) =>
        each.protocol === rule.protocol &&
        each.ports === rule.ports &&
        lists.every((list) => subset(peers(rule, end)[list], peers(each, end)[list])),
    )
    const found = rest[at]
    if (!found) {
      throw ApiError.badRequest(
        `The firewall has no ${rule.protocol} rule for ports ${rule.ports} with these ${end}.`,
      )
    }
    const left = Object.fromEntries(
      lists.flatMap((list) => {
        const keep = (peers(found, end)[list] ?? []).filter(
          (each) => !(peers(rule, end)[list] as unknown[] | undefined)?.includes(each),
        )
        return keep.length > 0 ? [[list, keep]] : []
      }),
    )
    const kept = Object.keys(left).length > 0 ? [{ ...found, [end]: left }] : []
    rest = [...rest.slice(0, at), ...kept, ...rest.slice(at + 1)]
  }
  return rest
}

const peers = <R>(rule: R, end: keyof R): Peers => rule[end] as Peers

const subset = (
  part: readonly unknown[] | null | undefined,
  whole: readonly unknown[] | null | undefined,
): boolean => (part ?? []).every((each) => whole?.includes(each))

/** Refuses instances and tags that do not exist. */
export const checkNames = async (
  tx: Store,
  { droplet_ids = [], tags = [] }: { droplet_ids?: readonly number[]; tags?: readonly string[] },
): Promise<void> => {
  for (const id of droplet_ids) {
    if (!(await tx.collection(dropletRecords).get(id))) {
      throw ApiError.badRequest(`droplet_ids names ${id}, which is no instance of this account.`)
    }
  }
  for (const tag of tags) {
    if (!(await tx.collection(tagNames).get(tag))) {
      throw ApiError.badRequest(`tags names ${tag}, which is no tag of this account.`)
    }
  }
}
