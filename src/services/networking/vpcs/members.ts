import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { clusterRecords } from '../../databases/clusters/records.ts'
import { balancerRecords } from '../load-balancers/records.ts'

export interface Member {
  /** As `resource_type` names it. */
  kind: 'droplet' | 'load_balancer' | 'database'
  name: string
  urn: string
  created_at: string
}

/** What is in a VPC, read from the resources themselves. */
export const membersOf = async (store: Store, id: string): Promise<Member[]> => {
  const [droplets, balancers, clusters] = await Promise.all([
    store.collection(dropletRecords).list({ where: { vpc_uuid: id } }),
    store.collection(balancerRecords).list({ where: { deleting: false } }),
    store.collection(clusterRecords).list({ where: { deleting: false } }),
  ])
  const member = (kind: Member['kind'], urn: string, { name, created_at }: Named): Member => ({
    kind,
    name,
    urn,
    created_at,
  })
  return [
    ...droplets.map((each) => member('droplet', `do:droplet:${each.id}`, each)),
    ...balancers
      .filter(({ settings }) => settings.vpc_uuid === id)
      .map((each) => member('load_balancer', `do:loadbalancer:${each.id}`, each)),
    ...clusters
      .filter(({ private_network_uuid }) => private_network_uuid === id)
      .map((each) => member('database', `do:dbaas:${each.id}`, each)),
  ]
}

interface Named {
  name: string
  created_at: string
}
