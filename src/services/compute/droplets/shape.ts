import { isIPv6 } from 'node:net'
import { maskOf, parseBlock } from '#core/cidr.ts'
import type { Store } from '#platform/store/store.ts'
import { vpcRecords } from '../../networking/vpcs/records.ts'
import { regionBySlug, regionSlugs } from '../regions/contract.ts'
import { sizeCatalogue } from '../sizes/catalogue.ts'
import { tagsOf } from '../tags/taggings.ts'
import type { DropletRecord } from './contract.ts'

/** An instance as the API shows it. */
export const asDroplet = async (store: Store, record: DropletRecord) => {
  const size = sizeCatalogue.find(({ slug }) => slug === record.size)
  const region = regionBySlug(record.region)
  if (!size || !region) throw new Error(`Droplet ${record.id} names an unknown size or region.`)
  const { id, name, status, created_at } = record
  return {
    id,
    name,
    memory: size.memory,
    vcpus: size.vcpus,
    disk: size.disk,
    locked: false,
    status,
    created_at,
    features: record.public_ipv6 ? ['ipv6', 'private_networking'] : ['private_networking'],
    backup_ids: [],
    next_backup_window: null,
    snapshot_ids: [],
    image: {},
    volume_ids: [],
    size: { ...size, regions: [...regionSlugs] },
    size_slug: size.slug,
    networks: record.ip_address ? registered(record.ip_address) : await own(store, record),
    region,
    tags: await tagsOf(store, 'droplet', String(id)),
    ...(record.vpc_uuid ? { vpc_uuid: record.vpc_uuid } : {}),
  }
}

/** The router of every instance; each link has two ends, so the same serves all. */
const gateway = { v4: '169.254.1.1', v6: 'fe80::1' }

const own = async (store: Store, record: DropletRecord) => {
  const vpc = record.vpc_uuid && (await store.collection(vpcRecords).get(record.vpc_uuid))
  const v4 = []
  if (record.public_ip) {
    const netmask = '255.255.255.255'
    const type = 'public' as const
    v4.push({ ip_address: record.public_ip, netmask, gateway: gateway.v4, type })
  }
  if (vpc && record.private_ip) {
    const netmask = maskOf(parseBlock(vpc.ip_range))
    const type = 'private' as const
    v4.push({ ip_address: record.private_ip, netmask, gateway: gateway.v4, type })
  }
  return { v4, v6: record.public_ipv6 ? [v6(record.public_ipv6, gateway.v6)] : [] }
}

const registered = (address: string) => {
  if (isIPv6(address)) return { v4: [], v6: [v6(address, address)] }
  const host = { ip_address: address, netmask: '255.255.255.255', gateway: address }
  return { v4: [{ ...host, type: 'public' as const }], v6: [] }
}

const v6 = (ip_address: string, via: string) => ({
  ip_address,
  netmask: 128,
  gateway: via,
  type: 'public' as const,
})
