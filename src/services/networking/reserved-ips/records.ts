import { addressAt, parseBlock, sizeOf } from '#core/cidr.ts'
import { collection } from '#core/collection.ts'
import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { touchFirewalls } from '../firewalls/links.ts'

/** A reserved address as it is kept. */
export interface ReservedRecord {
  ip: string
  family: 4 | 6
  /** Number of the allocation. */
  number: number
  region: string
  project_id: string
  /** The instance it leads to. */
  droplet_id: number | null
  reserved_at: string
  assigned_at: string | null
  /** The BYOIP prefix it is from. */
  byoip: string | null
  /** What is being brought about: the address is locked meanwhile. */
  pending: { action: number; droplet_id: number | null } | null
}

export const reservedRecords = collection<ReservedRecord>('reserved_ips', {
  called: 'Reserved IP',
  key: 'ip',
  indexes: ['family', 'droplet_id', 'byoip'],
  reconciled: true,
})

/** Beside the ranges of instances' own public addresses. */
const ranges = { 4: parseBlock('198.19.0.0/16'), 6: parseBlock('2001:2:0:1::/64') }

/** The next address that nobody holds. */
export const freeReserved = async (tx: Store, family: 4 | 6): Promise<string> => {
  const range = ranges[family]
  const places = Math.min(sizeOf(range), 2 ** 32) - 2
  for (let tries = 0; tries < places; tries++) {
    const offset = 1 + ((await tx.nextId(`reserved_addresses_${family}`)) % places)
    const address = addressAt(range, offset)
    if (!(await tx.collection(reservedRecords).get(address))) return address
  }
  throw ApiError.invalid('No address is left to reserve.')
}

/** A deleted instance leaves its reserved addresses to the account; which ones. */
export const freeTheAddresses = async (tx: Store, droplet: number): Promise<string[]> => {
  const table = tx.collection(reservedRecords)
  const held = await table.list({ where: { droplet_id: droplet } })
  for (const { ip } of held) {
    await table.update(ip, (current) => ({ ...current, droplet_id: null, assigned_at: null }))
  }
  await touchFirewalls(tx, [`droplet:${droplet}`])
  return held.map(({ ip }) => ip)
}
