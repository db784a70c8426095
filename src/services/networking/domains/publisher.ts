import type { DnsServer } from '#engines/dns/server.ts'
import type { Zone, ZoneRecord } from '#engines/dns/zone.ts'
import type { Store } from '#platform/store/store.ts'
import { zoneRecords, zones } from './records.ts'
import { absoluteName, nameServers, servedRecord, servedZone, systemZone } from './zone-file.ts'

/** Brings what the store says to the DNS server, in the order in which it was said. */
export interface Publisher {
  /** All zones there are, for a server that starts. */
  load(host: string): Promise<Zone[]>
  zone(name: string): Promise<void>
  /** The records of some names of a zone. */
  names(domain: string, names: readonly string[]): Promise<void>
  /** Values that a name proves something by, answered but not kept; none takes them back. */
  proof(domain: string, name: string, values: string[]): Promise<void>
}

export const createPublisher = (store: Store, dns: () => Promise<DnsServer>): Publisher => {
  const turns = new Map<string, Promise<void>>()
  const proofs = new Map<string, string[]>()

  /** One change of a zone at a time: what is read last is also sent last. */
  const inTurn = (domain: string, work: () => Promise<void>): Promise<void> => {
    const mine = (turns.get(domain) ?? Promise.resolve()).then(work, work)
    turns.set(domain, mine)
    const done = () => {
      if (turns.get(domain) === mine) turns.delete(domain)
    }
    mine.then(done, done)
    return mine
  }

  const proofsOf = (domain: string): ZoneRecord[] =>
    [...proofs]
      .filter(([name]) => name === domain || name.endsWith(`.${domain}`))
      .flatMap(([name, values]) =>
        values.map((data) => ({ name, type: 'TXT', ttl: 1, data: [data] })),
      )

  return {
    async load(host) {
      const records = new Map<string, ReturnType<typeof servedRecord>[]>()
      for (const record of await store.collection(zoneRecords).list()) {
        const own = records.get(record.domain)
        if (own) own.push(servedRecord(record))
        else records.set(record.domain, [servedRecord(record)])
      }
      const known = (await store.collection(zones).list()).map((zone) => ({
        ...servedZone(zone, []),
        records: [...(records.get(zone.name) ?? []), ...proofsOf(zone.name)],
      }))
      return [ownZone(host), ...known]
    },
    zone: (name) =>
      inTurn(name, async () => {
        const server = await dns()
        const zone = await store.collection(zones).get(name)
        if (!zone) return server.remove(name)
        const records = await store.collection(zoneRecords).list({ where: { domain: name } })
        await server.put(servedZone(zone, records))
      }),
    names: (domain, names) =>
      inTurn(domain, async () => {
        const server = await dns()
        const zone = await store.collection(zones).get(domain)
        if (!zone) return
        for (const name of new Set(names)) {
          const records = await store.collection(zoneRecords).list({ where: { domain, name } })
          const owner = absoluteName(name, domain)
          const own = proofsOf(domain).filter((record) => record.name === owner)
          await server.change({
            zone: domain,
            serial: zone.serial,
            name: owner,
            records: [...records.map(servedRecord), ...own],
          })
        }
      }),
    async proof(domain, name, values) {
      const owner = absoluteName(name, domain)
      if (values.length > 0) proofs.set(owner, values)
      else proofs.delete(owner)
      await this.names(domain, [name])
    },
  }
}

/** The zone in which the name servers of all others have their addresses. */
const ownZone = (host: string): Zone => ({
  name: systemZone,
  serial: 1,
  negativeTtl: 1800,
  primary: nameServers[0] ?? systemZone,
  contact: `hostmaster.${systemZone}`,
  records: nameServers.flatMap((server) => [
    { name: systemZone, type: 'NS', ttl: 1800, data: server },
    { name: server, type: host.includes(':') ? 'AAAA' : 'A', ttl: 1800, data: host },
  ]),
})
