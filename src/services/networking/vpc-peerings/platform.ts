import { ApiError } from '#core/error.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Step } from '#platform/reconcile.ts'
import type { Service } from '#platform/service.ts'
import { linkOfPeering, noteStanding } from '../plan.ts'
import { vpcRecords } from '../vpcs/records.ts'
import { vpcPeerings } from './contract.ts'
import { type PeeringRecord, peeringRecords, peeringsOf } from './records.ts'

export const vpcPeeringService =
  (fabric: Fabric): Service =>
  (on, kernel) => {
    const { store, clock, ids, actions } = kernel
    const table = store.collection(peeringRecords)

    const create = (name: string, [one = '', other = '']: readonly string[]) =>
      store.transaction(async (tx) => {
        const own = tx.collection(peeringRecords)
        if (one === other) throw ApiError.invalid('vpc_ids must name two different VPCs.')
        for (const id of [one, other]) {
          if (!(await tx.collection(vpcRecords).get(id))) {
            throw ApiError.invalid(`vpc_ids names ${id}, which is no VPC of this account.`)
          }
        }
        if (await own.find({ name })) {
          throw ApiError.invalid(`name ${name} is taken by another VPC peering of this account.`)
        }
        const twin = (await peeringsOf(tx, one)).find((each) =>
          [each.one, each.other].includes(other),
        )
        if (twin) {
          throw ApiError.conflict(`vpc_ids are the VPCs of the peering ${twin.name} already.`)
        }
        const id = ids.uuid()
        await actions.record({ type: 'create', resource_type: 'vpc_peering', resource_id: id }, tx)
        const created_at = timestamp(clock)
        return own.insert({ id, name, one, other, status: 'PROVISIONING', created_at })
      })

    const rename = (id: string, name: string) =>
      store.transaction(async (tx) => {
        const own = tx.collection(peeringRecords)
        const named = await own.find({ name })
        if (named && named.id !== id) {
          throw ApiError.invalid(`name ${name} is taken by another VPC peering of this account.`)
        }
        await own.require(id)
        return own.update(id, (current) => ({ ...current, name }))
      })

    on(vpcPeerings.list, async ({ query }) => {
      const regions = new Map(
        (await store.collection(vpcRecords).list()).map(({ id, region }) => [id, region]),
      )
      const all = (await table.list()).filter(
        ({ one, other }) =>
          query.region === undefined || [one, other].some((id) => regions.get(id) === query.region),
      )
      return pageOfItems('vpc_peerings', all.map(asPeering), query)
    })

    on(vpcPeerings.get, async ({ path, note }) => {
      noteStanding(fabric, note)
      return { vpc_peering: asPeering(await table.require(path.id)) }
    })

    on(vpcPeerings.create, async ({ body, note }) => {
      noteStanding(fabric, note)
      return { vpc_peering: asPeering(await create(body.name, body.vpc_ids)) }
    })

    on(vpcPeerings.rename, async ({ path, body }) => ({
      vpc_peering: asPeering(await rename(path.id, body.name)),
    }))

    on(vpcPeerings.delete, async ({ path }) => {
      await table.require(path.id)
      const gone = await table.update(path.id, (current) => ({ ...current, status: 'DELETING' }))
      await actions.record({ type: 'destroy', resource_type: 'vpc_peering', resource_id: path.id })
      return { vpc_peering: asPeering(gone) }
    })

    on(vpcPeerings.listOfVpc, async ({ path, query }) => {
      await store.collection(vpcRecords).require(path.vpc)
      return pageOfItems('peerings', (await peeringsOf(store, path.vpc)).map(asPeering), query)
    })

    on(vpcPeerings.createInVpc, async ({ path, body, note }) => {
      await store.collection(vpcRecords).require(path.vpc)
      noteStanding(fabric, note)
      return { peering: asPeering(await create(body.name, [path.vpc, body.vpc_id])) }
    })

    on(vpcPeerings.renameInVpc, async ({ path, body }) => {
      const own = (await peeringsOf(store, path.vpc)).some(({ id }) => id === path.id)
      if (!own) throw ApiError.notFound(`VPC peering ${path.id} of VPC ${path.vpc}`)
      return { peering: asPeering(await rename(path.id, body.name)) }
    })

    kernel.reconcile(peeringRecords, async (peering): Promise<Step<PeeringRecord>> => {
      await fabric.change({ links: await linkOfPeering(store, peering) })
      if (peering.status === 'DELETING') return { remove: true }
      if (!fabric.standing().enforced) return {}
      return {
        change: (current) =>
          current.status === 'PROVISIONING' ? { ...current, status: 'ACTIVE' } : current,
      }
    })
  }

const asPeering = ({ one, other, ...peering }: PeeringRecord) => ({
  ...peering,
  vpc_ids: [one, other],
})
