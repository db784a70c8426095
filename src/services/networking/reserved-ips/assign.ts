import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { type DropletRecord, dropletRecords } from '../../compute/droplets/contract.ts'
import { type ReservedRecord, reservedRecords } from './records.ts'

/** One thing at a time. */
export const checkUnlocked = ({ ip, pending }: ReservedRecord): void => {
  if (pending) {
    throw ApiError.invalid(`${ip} is locked: action ${pending.action} on it is still in progress.`)
  }
}

/** The instance that an address may go to, or why it may not. */
export const assignableDroplet = async (
  tx: Store,
  record: Pick<ReservedRecord, 'ip' | 'family' | 'region'> & { droplet_id?: number | null },
  id: number,
): Promise<DropletRecord> => {
  const droplet = await tx.collection(dropletRecords).get(id)
  if (!droplet) throw ApiError.invalid(`droplet_id ${id} is no instance of this account.`)
  if (droplet.ip_address !== null) {
    throw ApiError.invalid(`droplet_id ${id} is a host elsewhere; no address can be led to it.`)
  }
  if (droplet.region !== record.region) {
    throw ApiError.invalid(
      `droplet_id ${id} is in ${droplet.region}, ${record.ip} in ${record.region}.`,
    )
  }
  if (record.droplet_id === id) {
    throw ApiError.invalid(`${record.ip} is assigned to droplet_id ${id} already.`)
  }
  if (record.family === 6 && !droplet.public_ipv6) {
    throw ApiError.invalid(`droplet_id ${id} was made without IPv6.`)
  }
  const held = await tx.collection(reservedRecords).list({ where: { family: record.family } })
  const other = held.find(
    (each) =>
      each.ip !== record.ip && (each.pending ? each.pending.droplet_id : each.droplet_id) === id,
  )
  if (other)
    throw ApiError.invalid(`droplet_id ${id} has the reserved address ${other.ip} already.`)
  return droplet
}
