import { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { object, text } from '#mcp/args.ts'
import { script, type ToolContext } from '#mcp/tool.ts'
import { datasets } from '../evaluation-datasets/contract.ts'
import { metrics } from '../evaluation-metrics/contract.ts'
import { failing } from '../steps.ts'
import { modelEvaluations, type Preset, presets } from './contract.ts'
import { pickMetrics, selectionRequired, unlessAgreed } from './preview.ts'
import {
  candidateOf,
  type FoundModel,
  isSelection,
  knownModels,
  modelOperations,
  resolveModel,
} from './resolve.ts'
import { runArgs } from './run-args.ts'

export const createRunTools = {
  'genai-model-eval-create-run': script({
    title: 'Start model evaluation',
    about:
      'Start a model evaluation run; the first call only returns prompt_for_user to show to the user.',
    args: {
      name: text('Run name'),
      ...runArgs,
      eval_preset_uuid: text('Preset of dataset, judge and metrics').optional(),
      dataset_uuid: text('Required without a preset').optional(),
      judge_model_name: text('Exact name; required without a preset').optional(),
      star_metric: object(
        'Deciding metric, such as {"metric_uuid":"…","success_threshold_pct":80}',
        {
          metric_uuid: z.string().optional(),
          name: z.string().optional(),
          success_threshold: z.number().optional(),
          success_threshold_pct: z.int().min(0).max(100).optional(),
        },
        [],
      ).optional(),
    },
    effect: 'create',
    uses: [
      ...modelOperations,
      datasets.list,
      metrics.listForModels,
      presets.get,
      modelEvaluations.create,
    ],
    run: (a, context) =>
      failing('create model evaluation run', async () => {
        const preset = await presetOf(context, a.eval_preset_uuid)
        const wish = {
          dataset_uuid: a.dataset_uuid ?? preset?.dataset_uuid,
          judge_model_name: a.judge_model_name,
          judge_model_uuid: a.judge_model_uuid ?? preset?.judge_model_uuid,
        }
        if (!wish.dataset_uuid) throw missing('dataset_uuid', preset)
        if (!wish.judge_model_name && !wish.judge_model_uuid)
          throw missing('judge_model_name', preset)

        const known = await knownModels(context)
        const candidate = await resolveModel(context, known, {
          role: 'candidate',
          name: a.candidate_model_name,
          uuid: a.candidate_model_uuid,
        })
        const judge = await resolveModel(context, known, {
          role: 'judge',
          name: wish.judge_model_name,
          uuid: wish.judge_model_uuid,
        })
        const open = [candidate, judge].filter(isSelection)
        if (open.length > 0) return selectionRequired(...open)

        const chosen = await chosenMetrics(context, a.metric_uuids, preset)
        const dataset = await datasetOf(context, wish.dataset_uuid)
        const asked = unlessAgreed(a.user_message, () => ({
          run_name: a.name,
          dataset: { name: dataset.dataset_name, uuid: dataset.dataset_uuid },
          rows: dataset.row_count,
          characters: Number(dataset.file_size) / Math.max(1, dataset.row_count),
          has_ground_truth: dataset.has_ground_truth,
          metrics: chosen,
          candidate: candidate as FoundModel,
          judge: judge as FoundModel,
          judge_name: (judge as FoundModel).display_name,
          max_tokens: a.candidate_inference_config?.max_tokens,
        }))
        if (asked) return asked

        const { eval_run_uuid } = await context.api(modelEvaluations.create, {
          body: {
            name: a.name,
            ...candidateOf(candidate as FoundModel),
            candidate_inference_config: a.candidate_inference_config,
            star_metric: a.star_metric,
            source: 'mcp',
            ...(preset
              ? { eval_preset_uuid: preset.eval_preset_uuid }
              : {
                  dataset_uuid: dataset.dataset_uuid,
                  judge_model_uuid: (judge as FoundModel).uuid,
                  metric_uuids: chosen.map((metric) => metric.metric_uuid),
                }),
          },
        })
        return { eval_run_uuid, name: a.name }
      }),
  }),
}

const missing = (argument: string, preset: Preset | undefined) =>
  ApiError.invalid(
    preset
      ? `${argument} is required, since the preset ${preset.name} does not say it`
      : `${argument} is required without eval_preset_uuid`,
  )

const presetOf = async ({ api }: ToolContext, eval_preset_uuid: string | undefined) =>
  eval_preset_uuid === undefined
    ? undefined
    : (await api(presets.get, { path: { eval_preset_uuid } })).preset

const chosenMetrics = async (
  { api }: ToolContext,
  uuids: string[] | undefined,
  preset: Preset | undefined,
) => {
  if (!uuids?.length && preset?.metrics?.length) return preset.metrics
  const { metrics: all } = await api(metrics.listForModels, {})
  return pickMetrics(all, uuids)
}

const datasetOf = async ({ api }: ToolContext, uuid: string) => {
  const { evaluation_datasets } = await api(datasets.list, {
    query: { dataset_type: 'EVALUATION_DATASET_TYPE_MODEL' },
  })
  const found = evaluation_datasets.find(({ dataset_uuid }) => dataset_uuid === uuid)
  if (!found) throw ApiError.notFound(`Dataset ${uuid} for model evaluation`)
  return found
}
