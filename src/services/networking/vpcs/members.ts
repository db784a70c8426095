import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'

export interface Member {
  /** As `resource_type` names it. */
  kind: 'droplet' | 'load_balancer' | 'database'
  name: string
  urn: string
  created_at: string
}

/** What is in a VPC, read from the resources themselves. */
export const membersOf = async (store: Store, id: string): Promise<Member[]> => {
  const droplets = await store.collection(dropletRecords).list({ where: { vpc_uuid: id } })
  return droplets.map((droplet) => ({
    kind: 'droplet',
    name: droplet.name,
    urn: `do:droplet:${droplet.id}`,
    created_at: droplet.created_at,
  }))
}
