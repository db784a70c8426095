import { ApiError } from '#core/error.ts'
import type { InputOf } from '#core/operation.ts'
import type { Store } from '#platform/store/store.ts'
import { findMetrics } from '../evaluation-metrics/custom.ts'
import { type InferenceConfig, Limits, type RunRecord } from '../evaluation-runs/record.ts'
import { checkStar, datasetFor, judgeFor } from '../evaluation-runs/start.ts'
import { modelRecords } from '../models/contract.ts'
import { routerRecords } from '../routers/contract.ts'
import {
  type modelEvaluations,
  type PresetSection,
  presetSections,
  type StoredPreset,
} from './contract.ts'

type NewRun = InputOf<typeof modelEvaluations.create>['body']
type ModelCandidate = Extract<RunRecord['candidate'], { kind: 'model' }>

/** A new run from what was asked and what its preset says. */
export const newRun = async (
  store: Store,
  body: NewRun,
  preset: StoredPreset | undefined,
  identity: { uuid: string; created_at: string },
): Promise<RunRecord> => {
  const candidate = await candidateFor(store, body, preset)
  const metrics = await findMetrics(
    store,
    'MODEL',
    body.metric_uuids?.length ? body.metric_uuids : preset?.metric_uuids,
  )
  const star = body.star_metric ?? preset?.star_metric
  checkStar(star, metrics)
  const dataset_uuid = body.dataset_uuid ?? preset?.dataset?.uuid
  if (!dataset_uuid) throw ApiError.invalid('dataset_uuid is required, here or in the preset.')
  const judge_uuid = body.judge_model_uuid ?? preset?.judge?.uuid
  if (!judge_uuid && metrics.some(({ scoring }) => scoring !== 'computed')) {
    throw ApiError.invalid(
      'judge_model_uuid is required, here or in the preset: not all metrics are computed.',
    )
  }
  const dataset = await datasetFor(store, dataset_uuid, 'model')
  const judge = await judgeFor(store, metrics, judge_uuid)
  const limits = Limits.parse(body.limits ?? {})
  if (limits.max_cost_usd !== undefined) await checkPrices(store, candidate, judge)
  return {
    ...identity,
    kind: 'model',
    name: body.name,
    status: 'QUEUED',
    candidate,
    inference: inferenceOf(body, preset),
    ...(judge && { judge }),
    dataset,
    dataset_uuid,
    metrics,
    ...(star && { star }),
    limits,
    ...(preset && { preset_uuid: preset.eval_preset_uuid, preset_name: preset.name }),
  }
}

const inferenceOf = (body: NewRun, preset: StoredPreset | undefined): InferenceConfig => {
  const system_prompt = preset?.system_prompt
  const merged = {
    ...preset?.inference,
    ...(system_prompt && { system_prompt }),
    ...body.candidate_inference_config,
  }
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== undefined && value !== ''),
  )
}

/** By exact name, by uuid, or both when they are the same model. */
const candidateFor = async (
  store: Store,
  body: NewRun,
  preset: StoredPreset | undefined,
): Promise<ModelCandidate> => {
  const { candidate_model_name: name, candidate_model_uuid: uuid } = body
  if (!name && !uuid) {
    if (preset?.candidate) return preset.candidate
    throw ApiError.invalid('candidate_model_name or candidate_model_uuid is required.')
  }
  const router = /^router:(.+)$/.exec(name ?? '')?.[1]
  const routers = store.collection(routerRecords)
  const asRouter = router ? await routers.find({ name: router }) : uuid && (await routers.get(uuid))
  if (asRouter) {
    return {
      kind: 'model',
      name: `router:${asRouter.name}`,
      uuid: asRouter.uuid,
      source: 'CANDIDATE_MODEL_SOURCE_ROUTER',
    }
  }
  const models = store.collection(modelRecords)
  const found = uuid ? await models.get(uuid) : await models.find({ id: name ?? '' })
  if (!found) throw ApiError.notFound(`Candidate model ${name ?? uuid}`)
  if (name && found.id !== name) {
    throw ApiError.invalid(`candidate_model_uuid is ${found.id}, not ${name}.`)
  }
  if (found.kind !== 'chat') throw ApiError.invalid(`${found.id} is no chat model.`)
  return {
    kind: 'model',
    name: found.id,
    uuid: found.uuid,
    source: 'CANDIDATE_MODEL_SOURCE_SERVERLESS',
  }
}

/** A cap on the cost means nothing where a call has no price. */
const checkPrices = async (store: Store, candidate: ModelCandidate, judge: RunRecord['judge']) => {
  for (const { uuid, name } of [candidate, ...(judge ? [judge] : [])]) {
    const model = await store.collection(modelRecords).get(uuid)
    if (model && (model.price_in !== null || model.price_out !== null)) continue
    throw ApiError.invalid(
      `limits.max_cost_usd cannot hold: ${name} has no price. "cove models add" takes one.`,
    )
  }
}

/** The parts of a run that its preset keeps. */
export const presetOf = (run: RunRecord, body: NewRun, uuid: string): StoredPreset | undefined => {
  const sections = body.preset_save_sections?.length
    ? body.preset_save_sections
    : body.save_as_preset
      ? [...presetSections]
      : []
  // A run that came from a preset saves none.
  if (sections.length === 0 || run.preset_uuid || run.candidate.kind !== 'model') return undefined
  const has = (section: string) =>
    sections.includes(`PRESET_SAVE_SECTION_${section}` as PresetSection)
  const { system_prompt, ...inference } = run.inference
  return {
    eval_preset_uuid: uuid,
    name: body.preset_name || run.name,
    saved_sections: sections,
    ...(has('CANDIDATE') && { candidate: run.candidate, inference }),
    ...(has('SYSTEM_PROMPT') && system_prompt && { system_prompt }),
    ...(has('DATASET') && { dataset: { uuid: run.dataset.uuid, name: run.dataset.name } }),
    ...(has('JUDGE') && run.judge && { judge: run.judge }),
    ...(has('METRICS') && {
      metric_uuids: run.metrics.map(({ metric_uuid }) => metric_uuid),
      ...(run.star && { star_metric: run.star }),
    }),
    created_at: run.created_at,
  }
}
