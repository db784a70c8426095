import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'
import { RegionSlug } from '../../compute/regions/contract.ts'

export const VpcPeering = z.object({
  id: Uuid,
  name: z.string(),
  vpc_ids: z.array(Uuid).length(2),
  status: z.enum(['PROVISIONING', 'ACTIVE', 'DELETING']),
  created_at: Timestamp,
})
export type VpcPeering = z.output<typeof VpcPeering>

const PeeringName = z
  .string()
  .max(255)
  .regex(/^[a-zA-Z0-9-]+$/, 'must be letters, digits and -, such as blue-to-green')

const peering = resource('vpc_peering')

export const vpcPeerings = {
  list: peering.get('/v2/vpc_peerings', {
    query: Page.extend({ region: absentWhenEmpty(RegionSlug) }),
    returns: listOf('vpc_peerings', VpcPeering),
  }),
  create: peering.post('/v2/vpc_peerings', {
    body: z.object({ name: PeeringName, vpc_ids: z.array(Uuid).length(2) }),
    returns: one('vpc_peering', VpcPeering),
    status: 202,
  }),
  get: peering.get('/v2/vpc_peerings/:id', { returns: one('vpc_peering', VpcPeering) }),
  rename: peering.patch('/v2/vpc_peerings/:id', {
    body: z.object({ name: PeeringName }),
    returns: one('vpc_peering', VpcPeering),
  }),
  delete: peering.del('/v2/vpc_peerings/:id', {
    returns: one('vpc_peering', VpcPeering),
    status: 202,
  }),
  /** The same peerings, seen from one of their VPCs. */
  listOfVpc: peering.get('/v2/vpcs/:vpc/peerings', {
    query: Page,
    returns: listOf('peerings', VpcPeering),
  }),
  createInVpc: peering.post('/v2/vpcs/:vpc/peerings', {
    body: z.object({ name: PeeringName, vpc_id: Uuid }),
    returns: one('peering', VpcPeering),
    status: 202,
  }),
  renameInVpc: peering.patch('/v2/vpcs/:vpc/peerings/:id', {
    body: z.object({ name: PeeringName }),
    returns: one('peering', VpcPeering),
  }),
}
