import { keyOf, type NameKey, parentOf } from './name.ts'
import { type Rdata, rdataOf, soaOf, types } from './rdata.ts'
import type { NameChange, Zone, ZoneRecord } from './zone.ts'

/** All records of one name and type. */
export interface RecordSet {
  type: number
  ttl: number
  records: Rdata[]
}

/** A name that exists; without sets it exists only because names below it do. */
interface Node {
  sets: Map<number, RecordSet>
  /** Existing names one label below. */
  children: number
}

export interface LoadedZone {
  apex: NameKey
  nodes: Map<NameKey, Node>
  soa: RecordSet
  source: Omit<Zone, 'records'>
}

/** The zones of the server, found by the longest name that ends a question's. */
export class Zones {
  readonly #zones = new Map<NameKey, LoadedZone>()

  get size(): number {
    return this.#zones.size
  }

  put({ records, ...source }: Zone): void {
    const apex = keyOf(source.name)
    const zone: LoadedZone = { apex, nodes: new Map(), soa: soaSet(source), source }
    zone.nodes.set(apex, { sets: new Map([[types.SOA, zone.soa]]), children: 0 })
    const byName = new Map<NameKey, ZoneRecord[]>()
    for (const record of records) {
      const key = keyOf(record.name)
      const own = byName.get(key)
      if (own) own.push(record)
      else byName.set(key, [record])
    }
    for (const [key, own] of byName) place(zone, key, setsOf(own))
    this.#zones.set(apex, zone)
  }

  change({ zone: name, serial, name: owner, records }: NameChange): void {
    const zone = this.#zones.get(keyOf(name))
    // A later change may have overtaken this one; the zone then says the newer thing already.
    if (!zone || serial < zone.source.serial) return
    zone.source.serial = serial
    zone.soa = soaSet(zone.source)
    zone.nodes.get(zone.apex)?.sets.set(types.SOA, zone.soa)
    place(zone, keyOf(owner), setsOf(records))
  }

  remove(name: string): void {
    this.#zones.delete(keyOf(name))
  }

  clear(): void {
    this.#zones.clear()
  }

  find(key: NameKey): LoadedZone | undefined {
    for (let at: NameKey | undefined = key; at !== undefined; at = parentOf(at)) {
      const zone = this.#zones.get(at)
      if (zone) return zone
    }
    return undefined
  }
}

const soaSet = (zone: Omit<Zone, 'records'>): RecordSet => ({
  type: types.SOA,
  ttl: zone.negativeTtl,
  records: [soaOf({ ...zone, records: [] })],
})

const setsOf = (records: readonly ZoneRecord[]): Map<number, RecordSet> => {
  const sets = new Map<number, RecordSet>()
  for (const record of records) {
    const type = types[record.type as keyof typeof types]
    const set = sets.get(type) ?? { type, ttl: record.ttl, records: [] }
    // Records of one set share one time to live: the shortest any of them asks for.
    set.ttl = Math.min(set.ttl, record.ttl)
    set.records.push(rdataOf(record))
    sets.set(type, set)
  }
  return sets
}

const place = (zone: LoadedZone, key: NameKey, sets: Map<number, RecordSet>): void => {
  if (key === zone.apex) {
    sets.set(types.SOA, zone.soa)
    const apex = zone.nodes.get(key)
    if (apex) apex.sets = sets
    return
  }
  if (sets.size > 0) ensure(zone, key).sets = sets
  else forget(zone, key)
}

/** The node of a name, with all names between it and the apex. */
const ensure = (zone: LoadedZone, key: NameKey): Node => {
  const present = zone.nodes.get(key)
  if (present) return present
  const node: Node = { sets: new Map(), children: 0 }
  zone.nodes.set(key, node)
  const parent = parentOf(key)
  if (parent !== undefined && key !== zone.apex) ensure(zone, parent).children++
  return node
}

/** Take the records of a name away, and the name itself with its empty parents if nothing needs it. */
const forget = (zone: LoadedZone, key: NameKey): void => {
  const node = zone.nodes.get(key)
  if (!node) return
  node.sets = new Map()
  for (let at: NameKey | undefined = key; at !== undefined && at !== zone.apex; ) {
    const empty = zone.nodes.get(at)
    if (!empty || empty.sets.size > 0 || empty.children > 0) return
    zone.nodes.delete(at)
    at = parentOf(at)
    const above = at === undefined ? undefined : zone.nodes.get(at)
    if (above) above.children--
  }
}
