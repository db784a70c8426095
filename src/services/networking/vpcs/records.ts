import { type Block, formatBlock, overlaps, parseBlock } from '#core/cidr.ts'
import { collection } from '#core/collection.ts'
import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Kernel } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import type { Vpc } from './contract.ts'

export const vpcRecords = collection<Vpc>('vpcs', {
  called: 'VPC',
  key: 'id',
  indexes: ['name', 'region', 'default'],
  reconciled: true,
})

export interface NewVpcRecord {
  name: string
  region: string
  ip_range?: string | undefined
  description?: string | undefined
}

/** A new network; the first of a region is its default. */
export const insertVpc = async (
  tx: Store,
  { ids, clock }: Pick<Kernel, 'ids' | 'clock'>,
  wanted: NewVpcRecord,
): Promise<Vpc> => {
  const table = tx.collection(vpcRecords)
  if (await table.find({ name: wanted.name })) {
    throw ApiError.invalid(`name ${wanted.name} is taken by another VPC of this account.`)
  }
  const others = await table.list()
  const range = wanted.ip_range ? checkedRange(wanted.ip_range, others) : freeRange(others)
  const id = ids.uuid()
  return table.insert({
    id,
    urn: `do:vpc:${id}`,
    name: wanted.name,
    description: wanted.description ?? '',
    region: wanted.region,
    ip_range: range,
    default: !others.some(({ region }) => region === wanted.region),
    created_at: timestamp(clock),
  })
}

/** The network an instance goes into: the one it names, else the region's default. */
export const vpcForInstance = async (
  tx: Store,
  kernel: Pick<Kernel, 'ids' | 'clock'>,
  region: string,
  id: string | undefined,
): Promise<Vpc> => {
  const table = tx.collection(vpcRecords)
  if (id === undefined) {
    const preset = await table.find({ region, default: true })
    return preset ?? insertVpc(tx, kernel, { name: `default-${region}`, region })
  }
  const vpc = await table.get(id)
  if (!vpc) throw ApiError.invalid(`vpc_uuid ${id} is no VPC of this account.`)
  if (vpc.region === region) return vpc
  throw ApiError.invalid(`vpc_uuid ${id} is in ${vpc.region}; the instance would be in ${region}.`)
}

const checkedRange = (text: string, others: readonly Vpc[]): string => {
  const range = parseBlock(text)
  const taken = others.find(({ ip_range }) => overlaps(parseBlock(ip_range), range))
  if (!taken) return text
  throw ApiError.invalid(
    `ip_range ${text} overlaps with ${taken.ip_range} of the VPC ${taken.name}; choose another.`,
  )
}

const generated = { first: parseBlock('10.100.0.0/20').first, bits: 20, count: 2048 }

const freeRange = (others: readonly Vpc[]): string => {
  const taken = others.map(({ ip_range }) => parseBlock(ip_range))
  for (let at = 0; at < generated.count; at++) {
    const first = generated.first + BigInt(at) * 4096n
    const range: Block = { family: 4, first, bits: generated.bits }
    if (!taken.some((other) => overlaps(other, range))) return formatBlock(range)
  }
  throw ApiError.invalid('No /20 is left to generate; give ip_range.')
}
