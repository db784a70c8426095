import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { storedDatasets } from '../evaluation-datasets/contract.ts'
import type { Metric, StarMetric } from '../evaluation-metrics/contract.ts'
import { type ModelRecord, modelRecords } from '../models/contract.ts'
import type { RunRecord } from './record.ts'

/** The dataset of a new run, as the run keeps it. */
export const datasetFor = async (
  store: Store,
  uuid: string,
  kind: RunRecord['kind'],
): Promise<RunRecord['dataset']> => {
  const dataset = await store.collection(storedDatasets).require(uuid)
  const isForModels = dataset.dataset_type === 'EVALUATION_DATASET_TYPE_MODEL'
  if (isForModels !== (kind === 'model')) {
    throw ApiError.invalid(
      `dataset_uuid ${uuid} is a dataset for ${isForModels ? 'models' : 'agents'}, not for ${kind}s.`,
    )
  }
  return {
    uuid,
    name: dataset.dataset_name,
    object_key: dataset.object_key,
    file_name: dataset.file_name,
    rows: dataset.row_count,
    has_ground_truth: dataset.has_ground_truth,
  }
}

/** A chat model that judges; undefined when no metric asks for one. */
export const judgeFor = async (
  store: Store,
  metrics: readonly Metric[],
  uuid: string | undefined,
): Promise<RunRecord['judge']> => {
  const table = store.collection(modelRecords)
  if (uuid !== undefined) {
    const model = await table.get(uuid)
    if (!model) throw ApiError.notFound(`Judge model ${uuid}`)
    return named(model)
  }
  const judged = metrics.filter(({ scoring }) => scoring !== 'computed')
  if (judged.length === 0) return undefined
  const first = (await table.list()).find(({ kind }) => kind === 'chat')
  if (first) return named(first)
  throw ApiError.invalid(
    `${judged.map(({ metric_name }) => metric_name).join(', ')} need a judge model, and this Cove knows none: add one with "cove models add", or choose metrics that are computed.`,
  )
}

const named = ({ uuid, id, kind }: ModelRecord) => {
  if (kind !== 'chat') throw ApiError.invalid(`${id} is no chat model, so it cannot judge.`)
  return { uuid, name: id }
}

export const checkStar = (star: StarMetric | undefined, metrics: readonly Metric[]) => {
  if (!star) return
  const known = metrics.some(
    (metric) => metric.metric_uuid === star.metric_uuid || metric.metric_name === star.name,
  )
  if (known) return
  throw ApiError.invalid(
    `star_metric ${star.metric_uuid ?? star.name ?? ''} is not among the metrics of the run.`,
  )
}
