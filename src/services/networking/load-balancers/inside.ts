import type { Doors } from '#engines/fabric/doors.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import type { Balancer } from '#engines/haproxy/model.ts'
import { balancerAddress, balancerHost } from './records.ts'

/** Takes a balancer to the instances in the fabric: it has an address of its own there. */
export interface Inside {
  /** The balancer with targets that it can reach; instances that nobody can reach are left out. */
  reached(balancer: Balancer): Promise<Balancer>
  left(id: string): Promise<void>
}

/** Instances have these; see `compute/droplets/addresses.ts`. */
const isInside = (address: string): boolean => address.startsWith('198.18.')

export const createInside = (fabric: Fabric, doors: Doors): Inside => ({
  async reached(balancer) {
    if (!balancer.targets.some(({ address }) => isInside(address))) return balancer
    if (!fabric.standing().enforced) {
      return { ...balancer, targets: balancer.targets.filter(({ address }) => !isInside(address)) }
    }
    const host = balancerHost(balancer.id)
    await fabric.change({ hosts: { [host]: { public: balancerAddress(balancer.address) } } })
    const ports = [
      ...balancer.listeners.map(({ targetPort }) => targetPort),
      ...(balancer.global ? [] : [balancer.health.port]),
    ]
    const targets = balancer.targets.map(async (target) =>
      isInside(target.address)
        ? { ...target, address: await doors.open(host, target.address, ports) }
        : target,
    )
    return { ...balancer, targets: await Promise.all(targets) }
  },
  async left(id) {
    await doors.close(balancerHost(id))
    await fabric.change({ hosts: { [balancerHost(id)]: null } })
  },
})
