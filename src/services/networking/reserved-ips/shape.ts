import { canonicalAddress } from '#core/cidr.ts'
import { ApiError } from '#core/error.ts'
import { isAddress } from '#core/host.ts'
import type { ActionRecord } from '#platform/actions.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { asDroplet } from '../../compute/droplets/shape.ts'
import { regionBySlug } from '../../compute/regions/contract.ts'
import type { ReservedRecord } from './records.ts'

/** The address in a path as we write it, however the caller wrote it. */
export const addressOf = (text: string, family: 4 | 6): string => {
  if (isAddress(text) && text.includes(':') === (family === 6)) return canonicalAddress(text)
  throw ApiError.notFound(`Reserved IP ${text}`)
}

const dropletOf = async (store: Store, { droplet_id }: ReservedRecord) => {
  const record = droplet_id && (await store.collection(dropletRecords).get(droplet_id))
  return record ? asDroplet(store, record) : null
}

export const asReserved = async (store: Store, record: ReservedRecord) => {
  const region = regionBySlug(record.region)
  if (!region) throw new Error(`Reserved IP ${record.ip} is in an unknown region.`)
  const { ip, project_id } = record
  return {
    ip,
    region,
    droplet: await dropletOf(store, record),
    locked: record.pending !== null,
    project_id,
  }
}

export const asReserved6 = async (store: Store, record: ReservedRecord) => ({
  ip: record.ip,
  region_slug: record.region,
  reserved_at: record.reserved_at,
  droplet: await dropletOf(store, record),
})

/** An action of an address, as its own list shows it. */
export const asAddressAction = (
  { urn: _urn, ...action }: ActionRecord,
  { project_id }: ReservedRecord,
) => {
  const region = action.region_slug ? regionBySlug(action.region_slug) : undefined
  return { ...action, project_id, ...(region && { region }) }
}
