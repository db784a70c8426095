import { ApiError } from '#core/error.ts'
import type { DnsServer } from '#engines/dns/server.ts'
import { pageOf } from '#platform/pages.ts'
import type { Kernel, Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { type DomainRecord, domainRecords, domains, type NewRecord } from './contract.ts'
import type { Publisher } from './publisher.ts'
import { type RecordState, type ZoneState, zoneRecords, zones } from './records.ts'
import { changed, checkBeside, settled } from './rules.ts'
import { nameServers, relativeName, zoneFile } from './zone-file.ts'

export interface DomainDrivers {
  publisher: Publisher
  /** The server once it runs. */
  running: () => DnsServer | undefined
}

const defaultTtl = 1800

export const domainService =
  ({ publisher, running }: DomainDrivers): Service =>
  (on, kernel) => {
    const { store, clock, actions } = kernel
    const table = store.collection(zones)
    const records = store.collection(zoneRecords)

    const find = (name: string) => table.require(name.toLowerCase())

    const findRecord = async (path: { domain: string; id: string }) => {
      const { name } = await find(path.domain)
      const record = /^\d+$/.test(path.id) ? await records.get(Number(path.id)) : undefined
      if (record?.domain !== name) {
        throw ApiError.notFound(`Domain record ${path.id} of ${name}`)
      }
      return record
    }

    const where = (note: (text: string) => void): void => {
      const server = running()
      if (server) note(`Answered by the DNS server at ${server.host} port ${server.port}.`)
    }

    on(domains.list, async ({ query }) => {
      const page = await pageOf('domains', table, query)
      return {
        ...page,
        domains: await Promise.all(page.domains.map((zone) => asDomain(store, zone))),
      }
    })

    on(domains.get, async ({ path }) => ({ domain: await asDomain(store, await find(path.name)) }))

    on(domains.create, async ({ body, note }) => {
      const { name, ip_address: address } = body
      const zone = await store.transaction(async (tx) => {
        if (await tx.collection(zones).get(name)) {
          throw ApiError.invalid(`name ${name} is a domain of this account already.`)
        }
        const serial = Math.floor(clock.now() / 1000)
        const made = await tx.collection(zones).insert({ name, ttl: defaultTtl, serial })
        const first: [type: 'NS' | 'A', data: string][] = nameServers.map((host) => ['NS', host])
        if (address) first.push(['A', address])
        for (const [type, data] of first) {
          const id = await tx.nextId('domain_records')
          await tx
            .collection(zoneRecords)
            .insert(settled({ type, data, name: '@' }, name, id, defaultTtl))
        }
        await actions.record({ type: 'create', resource_type: 'domain', resource_id: name }, tx)
        return made
      })
      await publisher.zone(name)
      where(note)
      return { domain: await asDomain(store, zone) }
    })

    on(domains.delete, async ({ path }) => {
      const { name } = await find(path.name)
      await store.transaction(async (tx) => {
        const own = tx.collection(zoneRecords)
        for (const { id } of await own.list({ where: { domain: name } })) await own.remove(id)
        await tx.collection(zones).remove(name)
        await actions.record({ type: 'destroy', resource_type: 'domain', resource_id: name }, tx)
      })
      await publisher.zone(name)
    })

    on(domainRecords.list, async ({ path, query }) => {
      const { name: domain } = await find(path.domain)
      const name = query.name === undefined ? undefined : relativeName(query.name, domain)
      const choice = {
        domain,
        ...(query.name !== undefined && { name: name ?? query.name }),
        ...(query.type && { type: query.type }),
      }
      const page = await pageOf('domain_records', records, query, { where: choice })
      return { ...page, domain_records: page.domain_records.map(asRecord) }
    })

    on(domainRecords.get, async ({ path }) => ({ domain_record: asRecord(await findRecord(path)) }))

    on(domainRecords.create, async ({ path, body, note }) => {
      const { name: domain } = await find(path.domain)
      const record = await store.transaction(async (tx) => {
        const id = await tx.nextId('domain_records')
        return keep(tx, kernel, settled(body, domain, id, defaultTtl))
      })
      await publisher.names(domain, [record.name])
      where(note)
      return { domain_record: asRecord(record) }
    })

    const edit = async (
      path: { domain: string; id: string },
      change: Partial<NewRecord>,
      note: (text: string) => void,
    ) => {
      const before = await findRecord(path)
      const record = await store.transaction(async (tx) => {
        const current = await tx.collection(zoneRecords).require(before.id)
        const next = settled(changed(current, change), current.domain, current.id, current.ttl)
        return keep(tx, kernel, next)
      })
      await publisher.names(record.domain, [before.name, record.name])
      where(note)
      return { domain_record: asRecord(record) }
    }

    on(domainRecords.update, ({ path, body, note }) => edit(path, body, note))
    on(domainRecords.patch, ({ path, body, note }) => edit(path, body, note))

    on(domainRecords.delete, async ({ path }) => {
      const { id, domain, name } = await findRecord(path)
      await store.transaction(async (tx) => {
        await tx.collection(zoneRecords).remove(id)
        await grow(tx, kernel, domain)
      })
      await publisher.names(domain, [name])
    })
  }

/** Write a record where DNS allows it. */
const keep = async (tx: Store, kernel: Kernel, record: RecordState): Promise<RecordState> => {
  const table = tx.collection(zoneRecords)
  const { domain, name, id } = record
  const others = await table.list({ where: { domain, name } })
  checkBeside(
    record,
    others.filter((other) => other.id !== id),
  )
  await table.put(record)
  await grow(tx, kernel, domain)
  return record
}

/** Secondary servers and resolvers see by the serial that a zone has changed. */
const grow = (tx: Store, { clock }: Kernel, domain: string): Promise<ZoneState> =>
  tx.collection(zones).update(domain, (zone) => ({
    ...zone,
    serial: Math.max(zone.serial + 1, Math.floor(clock.now() / 1000)),
  }))

const asDomain = async (store: Store, zone: ZoneState) => ({
  name: zone.name,
  ttl: zone.ttl,
  zone_file: zoneFile(
    zone,
    await store.collection(zoneRecords).list({ where: { domain: zone.name } }),
  ),
})

const asRecord = ({ domain: _domain, ...record }: RecordState): DomainRecord => record
