import { ApiError } from '#core/error.ts'
import { type ActionRecord, actionRecords } from '#platform/actions.ts'
import { pageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { regionBySlug } from '../../compute/regions/contract.ts'
import { actions } from './contract.ts'

export const actionService: Service = (on, { store }) => {
  const table = store.collection(actionRecords)

  on(actions.list, async ({ query }) => {
    const page = await pageOf('actions', table, query, { newestFirst: true })
    return { ...page, actions: page.actions.map(asAction) }
  })

  on(actions.get, async ({ path }) => {
    const id = Number(path.id)
    if (!Number.isSafeInteger(id)) throw ApiError.notFound(`Action ${path.id}`)
    return { action: asAction(await table.require(id)) }
  })
}

export const asAction = ({ urn: _urn, ...record }: ActionRecord) => {
  const region = record.region_slug ? regionBySlug(record.region_slug) : undefined
  return { ...record, ...(region ? { region } : {}) }
}
