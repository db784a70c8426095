import { collection } from '#core/collection.ts'
import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { builtInMetrics } from './catalogue.ts'
import type { Metric } from './contract.ts'

/** A metric of somebody's own. A deleted one is kept for the runs that used it. */
interface CustomMetric {
  metric_uuid: string
  metric: Metric
  deleted: boolean
}

export const customMetrics = collection<CustomMetric>('custom_evaluation_metrics', {
  called: 'Custom metric',
  key: 'metric_uuid',
  indexes: ['deleted'],
})

/** The metrics that a list of uuids means, in its order; all of the scope when it is empty. */
export const findMetrics = async (
  store: Store,
  scope: 'AGENT' | 'MODEL',
  uuids: readonly string[] | undefined,
): Promise<Metric[]> => {
  const own = await store.collection(customMetrics).list({ where: { deleted: false } })
  const all = [...builtInMetrics(scope), ...own.map(({ metric }) => metric)]
  if (!uuids?.length) return all
  return [...new Set(uuids)].map((uuid) => {
    const found = all.find(({ metric_uuid }) => metric_uuid === uuid)
    if (!found) throw ApiError.invalid(`There is no metric ${uuid} for ${scope.toLowerCase()}s.`)
    return found
  })
}
