import { ApiError } from '#core/error.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import { pageOf, pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { linkOfVpc, noteStanding } from '../plan.ts'
import { peeringsOf } from '../vpc-peerings/records.ts'
import { type Vpc, vpcs } from './contract.ts'
import { type Member, membersOf } from './members.ts'
import { insertVpc, vpcRecords } from './records.ts'

export const vpcService =
  (fabric: Fabric): Service =>
  (on, kernel) => {
    const { store, actions } = kernel
    const table = store.collection(vpcRecords)

    const change = (id: string, wanted: Partial<Pick<Vpc, 'name' | 'description' | 'default'>>) =>
      store.transaction(async (tx) => {
        const own = tx.collection(vpcRecords)
        const vpc = await own.require(id)
        const named = wanted.name !== undefined && (await own.find({ name: wanted.name }))
        if (named && named.id !== id) {
          throw ApiError.invalid(`name ${named.name} is taken by another VPC of this account.`)
        }
        if (wanted.default === false && vpc.default) {
          throw ApiError.invalid(
            `default of ${vpc.name} cannot be unset; make another VPC of ${vpc.region} the default.`,
          )
        }
        if (wanted.default) {
          for (const other of await own.list({ where: { region: vpc.region, default: true } })) {
            await own.update(other.id, (current) => ({ ...current, default: false }))
          }
        }
        return own.update(id, (current) => ({ ...current, ...wanted }))
      })

    on(vpcs.list, ({ query }) => pageOf('vpcs', table, query))

    on(vpcs.get, async ({ path, note }) => {
      noteStanding(fabric, note)
      return { vpc: await table.require(path.id) }
    })

    on(vpcs.create, async ({ body, note }) => {
      const vpc = await store.transaction(async (tx) => {
        const made = await insertVpc(tx, kernel, body)
        await actions.record(
          { type: 'create', resource_type: 'vpc', resource_id: made.id, region_slug: made.region },
          tx,
        )
        return made
      })
      noteStanding(fabric, note)
      return { vpc }
    })

    on(vpcs.update, async ({ path, body }) => ({
      vpc: await change(path.id, { ...given(body), description: body.description ?? '' }),
    }))
    on(vpcs.patch, async ({ path, body }) => ({ vpc: await change(path.id, given(body)) }))

    on(vpcs.delete, async ({ path }) => {
      await store.transaction(async (tx) => {
        const vpc = await tx.collection(vpcRecords).require(path.id)
        const use = vpc.default ? 'is the default of its region' : await useOf(tx, vpc.id)
        if (use) throw ApiError.forbidden(`VPC ${vpc.name} cannot be deleted: it ${use}.`)
        await tx.collection(vpcRecords).remove(vpc.id)
        await actions.record({ type: 'destroy', resource_type: 'vpc', resource_id: vpc.id }, tx)
      })
      await fabric.change({ links: { [path.id]: null } })
    })

    on(vpcs.members, async ({ path, query }) => {
      await table.require(path.id)
      const kind = query.resource_type
      const all = (await membersOf(store, path.id)).filter(
        (member) => kind === undefined || member.kind === kind,
      )
      const page = pageOfItems('members', all, query)
      return { ...page, members: page.members.map(({ kind: _kind, ...member }) => member) }
    })

    kernel.reconcile(vpcRecords, async (vpc) => {
      await fabric.change({ links: linkOfVpc(vpc) })
      return {}
    })
  }

const given = <T extends object>(body: T) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

const useOf = async (tx: Store, id: string): Promise<string | undefined> => {
  const members = await membersOf(tx, id)
  if (members.length > 0) return `has ${members.length} members, such as ${nameOf(members[0])}`
  const [peering] = await peeringsOf(tx, id)
  return peering && `is part of the peering ${peering.name}`
}

const nameOf = (member: Member | undefined): string => member?.name ?? ''
