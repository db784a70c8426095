import { type NameKey, parentOf, wildcardOf } from './name.ts'
import { types } from './rdata.ts'
import type { LoadedZone, RecordSet, Zones } from './zones.ts'

export const rcodes = {
  ok: 0,
  malformed: 1,
  failed: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
  badVersion: 16,
} as const

export interface Placed {
  owner: NameKey
  set: RecordSet
}

export interface Resolution {
  rcode: number
  authoritative: boolean
  answer: Placed[]
  authority: Placed[]
  additional: Placed[]
}

/** Longest chain of aliases that is followed. */
const longestChain = 8

/** What the zones say about a name and a type. */
export const resolve = (zones: Zones, name: NameKey, type: number): Resolution => {
  const result: Resolution = {
    rcode: rcodes.ok,
    authoritative: true,
    answer: [],
    authority: [],
    additional: [],
  }
  const zone = zones.find(name)
  if (!zone) return { ...result, rcode: rcodes.refused, authoritative: false }
  follow(zones, zone, name, type, result)
  addAddresses(zones, result)
  return result
}

const follow = (
  zones: Zones,
  zone: LoadedZone,
  name: NameKey,
  type: number,
  result: Resolution,
): void => {
  const cut = delegationOf(zone, name)
  if (cut) {
    result.authority.push(cut)
    result.authoritative = result.answer.length > 0
    return
  }
  const sets = setsAt(zone, name)
  if (!sets) {
    result.rcode = rcodes.noSuchName
    result.authority.push({ owner: zone.apex, set: zone.soa })
    return
  }
  const alias = type === types.CNAME || type === types.ANY ? undefined : sets.get(types.CNAME)
  if (alias) {
    result.answer.push({ owner: name, set: alias })
    chase(zones, alias.records[0]?.target, type, result)
    return
  }
  const set = type === types.ANY ? sets.values().next().value : sets.get(type)
  if (set) result.answer.push({ owner: name, set })
  else result.authority.push({ owner: zone.apex, set: zone.soa })
}

/** The rest of a chain of aliases, as far as it lies in zones of ours and does not turn round. */
const chase = (
  zones: Zones,
  target: NameKey | undefined,
  type: number,
  result: Resolution,
): void => {
  const seen = result.answer.some((placed) => placed.owner === target)
  const zone = target === undefined ? undefined : zones.find(target)
  if (target === undefined || !zone || seen || result.answer.length > longestChain) return
  follow(zones, zone, target, type, result)
}

/** The name servers a part of the zone was handed to, if the name is in such a part. */
const delegationOf = (zone: LoadedZone, name: NameKey): Placed | undefined => {
  let found: Placed | undefined
  for (
    let at: NameKey | undefined = name;
    at !== undefined && at !== zone.apex;
    at = parentOf(at)
  ) {
    const set = zone.nodes.get(at)?.sets.get(types.NS)
    if (set) found = { owner: at, set } // the one nearest to the apex counts
  }
  return found
}

/** The record sets of a name: its own, or those of the wildcard that covers it. */
const setsAt = (zone: LoadedZone, name: NameKey): Map<number, RecordSet> | undefined => {
  const node = zone.nodes.get(name)
  if (node) return node.sets
  for (let at = parentOf(name); at !== undefined; at = parentOf(at)) {
    if (zone.nodes.has(at)) return zone.nodes.get(wildcardOf(at))?.sets
  }
  return undefined
}

/** Addresses of the hosts that the answer or the referral names, where we hold them. */
const addAddresses = (zones: Zones, result: Resolution): void => {
  for (const { set } of [...result.answer, ...result.authority]) {
    if (set.type === types.CNAME) continue
    for (const { target } of set.records) {
      if (target === undefined) continue
      const sets = zones.find(target)?.nodes.get(target)?.sets
      for (const type of [types.A, types.AAAA]) {
        const found = sets?.get(type)
        if (found) result.additional.push({ owner: target, set: found })
      }
    }
  }
}
