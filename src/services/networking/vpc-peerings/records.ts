import { collection } from '#core/collection.ts'
import type { Store } from '#platform/store/store.ts'
import type { VpcPeering } from './contract.ts'

/** A peering as it is kept: its two networks as fields, so that they can be looked for. */
export interface PeeringRecord extends Omit<VpcPeering, 'vpc_ids'> {
  one: string
  other: string
}

export const peeringRecords = collection<PeeringRecord>('vpc_peerings', {
  called: 'VPC peering',
  key: 'id',
  indexes: ['name', 'one', 'other', 'status'],
  reconciled: true,
})

/** The peerings that a VPC is part of. */
export const peeringsOf = async (store: Store, vpc: string): Promise<PeeringRecord[]> => {
  const table = store.collection(peeringRecords)
  const [as, of] = await Promise.all([
    table.list({ where: { one: vpc } }),
    table.list({ where: { other: vpc } }),
  ])
  return [...as, ...of]
}
