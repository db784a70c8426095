import { addressAt, parseBlock, sizeOf } from '#core/cidr.ts'
import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import type { Vpc } from '../../networking/vpcs/contract.ts'
import { dropletRecords } from './contract.ts'

/**
 * Public addresses are from the ranges set aside for benchmarks, which no network uses: the first
 * half of 198.18.0.0/15 for instances, the second for reserved addresses, and 2001:2::/48.
 */
const publicRange = parseBlock('198.18.0.0/16')
const publicRange6 = parseBlock('2001:2::/64')

/** The first free address of a private network; its first two and its last are not given out. */
export const freePrivateAddress = async (tx: Store, vpc: Vpc): Promise<string> => {
  const range = parseBlock(vpc.ip_range)
  const members = await tx.collection(dropletRecords).list({ where: { vpc_uuid: vpc.id } })
  const taken = new Set(members.map(({ private_ip }) => private_ip))
  for (let offset = 2; offset < sizeOf(range) - 1; offset++) {
    const address = addressAt(range, offset)
    if (!taken.has(address)) return address
  }
  throw ApiError.invalid(`vpc_uuid ${vpc.id} has no free address left in ${vpc.ip_range}.`)
}

/** The next free public address: one that was just given back is not given out again at once. */
export const freePublicAddress = async (tx: Store): Promise<string> => {
  const table = tx.collection(dropletRecords)
  for (let tries = 0; tries < sizeOf(publicRange); tries++) {
    const offset = 1 + ((await tx.nextId('public_addresses')) % (sizeOf(publicRange) - 2))
    const public_ip = addressAt(publicRange, offset)
    if (!(await table.find({ public_ip }))) return public_ip
  }
  throw ApiError.invalid('No public address is left.')
}

/** Its number makes an instance's IPv6 address. */
export const publicAddress6 = (id: number): string => addressAt(publicRange6, 0x10000 + id)
