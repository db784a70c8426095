import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf, one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'
import { SignedUrl } from '../evaluation-datasets/contract.ts'
import { Metric, MetricResult, StarMetric } from '../evaluation-metrics/contract.ts'
import {
  type Candidate,
  type InferenceConfig,
  Limits,
  runStatuses,
} from '../evaluation-runs/record.ts'

const { get, post, put, patch, del } = resource('genai')

export const modelRunPrefix = 'MODEL_EVALUATION_RUN_'
export const modelRunStatuses = runStatuses.map((status) => `${modelRunPrefix}${status}` as const)

export const candidateSources = [
  'CANDIDATE_MODEL_SOURCE_SERVERLESS',
  'CANDIDATE_MODEL_SOURCE_DEDICATED',
  'CANDIDATE_MODEL_SOURCE_ROUTER',
] as const
export type CandidateSource = (typeof candidateSources)[number]

export const presetSections = [
  'PRESET_SAVE_SECTION_CANDIDATE',
  'PRESET_SAVE_SECTION_METRICS',
  'PRESET_SAVE_SECTION_JUDGE',
  'PRESET_SAVE_SECTION_DATASET',
  'PRESET_SAVE_SECTION_SYSTEM_PROMPT',
] as const
export type PresetSection = (typeof presetSections)[number]

/** Zero and empty text are what some clients send for "not given". */
export const InferenceSettings = z.object({
  max_tokens: z.number().int().min(0).max(1_000_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Ours: not of the public description, but of the tools. */
  top_p: z.number().min(0).max(1).optional(),
  stop_token: z.string().optional(),
  system_prompt: z.string().max(100_000).optional(),
})

const Progress = z.object({
  total_rows: z.number().int(),
  candidate_rows_evaluated: z.number().int(),
  judge_rows_evaluated: z.number().int(),
})

export const RunSummaryView = z.object({
  eval_run_uuid: z.string(),
  name: z.string(),
  status: z.enum(modelRunStatuses),
  candidate_model_name: z.string(),
  candidate_model_uuid: z.string().optional(),
  candidate_model_source: z.enum(candidateSources),
  judge_model_name: z.string().optional(),
  judge_model_uuid: z.string().optional(),
  dataset_name: z.string(),
  dataset_uuid: z.string(),
  created_at: Timestamp,
  progress: Progress,
})

export type RunSummaryView = z.infer<typeof RunSummaryView>

const MetricSummaryView = z.object({
  metric_uuid: z.string(),
  metric_name: z.string(),
  description: z.string().optional(),
  pass_count: z.number().int(),
  pass_percent: z.number(),
  fail_count: z.number().int(),
  fail_percent: z.number(),
  skipped_count: z.number().int(),
  skip_percent: z.number(),
  /** Ours. */
  mean: z.number().optional(),
  scored_count: z.number().int().optional(),
  threshold: z.number().optional(),
})

const PerformanceView = z.object({
  candidate_latency: z.record(z.string(), z.number()),
  token_usage: z.record(z.string(), z.string()),
})

const GroupView = {
  prompt_count: z.number().int(),
  metric_summaries: z.array(MetricSummaryView),
  performance_metrics: PerformanceView,
}

const TokenPricing = z.object({
  total_cost: z.number(),
  input_cost: z.number().optional(),
  output_cost: z.number().optional(),
})

const ResultSummary = z.object({
  metric_summaries: z.array(MetricSummaryView),
  /** The unweighted mean of the metrics' pass percentages. */
  overall_score_percent: z.number(),
  star_metric_summary: z
    .object({ metric_uuid: z.string(), metric_name: z.string(), threshold: z.number() })
    .optional(),
  performance_metrics: PerformanceView,
  pricing: z
    .object({
      currency: z.string(),
      total_cost: z.number(),
      judge_model_pricing: TokenPricing,
      per_candidate_model_pricing: z.array(
        z.object({
          model_name: z.string(),
          prompt_count: z.number().int(),
          pricing: TokenPricing,
        }),
      ),
    })
    .optional(),
  per_model_summaries: z
    .object({ summaries: z.array(z.object({ model_name: z.string(), ...GroupView })) })
    .optional(),
  per_task_summaries: z
    .object({ summaries: z.array(z.object({ task_name: z.string(), ...GroupView })) })
    .optional(),
  start_time: Timestamp.optional(),
  end_time: Timestamp.optional(),
  total_duration_seconds: z.number().int().optional(),
})

export const RunDetail = RunSummaryView.extend({
  candidate_inference_config: InferenceSettings,
  metrics: z.array(Metric),
  star_metric: StarMetric.optional(),
  eval_preset_uuid: z.string().optional(),
  eval_preset_name: z.string().optional(),
  error_description: z.string().optional(),
  started_at: Timestamp.optional(),
  completed_at: Timestamp.optional(),
  result_summary: ResultSummary.optional(),
  /** Ours. */
  limits: Limits.optional(),
  suspended: z.string().optional(),
})
export type RunDetail = z.infer<typeof RunDetail>

export const RunResult = z.object({
  input: z.string(),
  output: z.string().optional(),
  ground_truth: z.string().optional(),
  candidate_model_name: z.string().optional(),
  candidate_model_uuid: z.string().optional(),
  candidate_routed_task: z.string().optional(),
  metric_results: z.array(MetricResult),
  /** Ours: the row of the dataset, from 1, why there is no output, and what the answer took. */
  row: z.number().int().optional(),
  error_description: z.string().optional(),
  latency_ms: z.number().optional(),
  cost_usd: z.number().optional(),
})
export type RunResult = z.infer<typeof RunResult>

const Preset = z.object({
  eval_preset_uuid: z.string(),
  name: z.string(),
  saved_sections: z.array(z.enum(presetSections)),
  dataset_name: z.string().optional(),
  dataset_uuid: z.string().optional(),
  judge_model_name: z.string().optional(),
  judge_model_uuid: z.string().optional(),
  candidate_model_name: z.string().optional(),
  candidate_model_uuid: z.string().optional(),
  candidate_model_source: z.enum(candidateSources).optional(),
  candidate_inference_config: InferenceSettings.optional(),
  candidate_system_prompt: z.string().optional(),
  metrics: z.array(Metric).optional(),
  star_metric: StarMetric.optional(),
  created_at: Timestamp,
})
export type Preset = z.infer<typeof Preset>

const items = <T extends z.ZodType>(item: T) =>
  z
    .union([item, z.array(item)])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional()

const AnyStatus = z.enum(modelRunStatuses)

export const modelEvaluations = {
  create: post('/v2/gen-ai/model_evaluation_runs', {
    body: z.object({
      name: z.string().trim().min(1).max(255),
      candidate_model_name: z.string().optional(),
      candidate_model_uuid: z.string().optional(),
      candidate_model_source: z.enum(candidateSources).optional(),
      candidate_inference_config: InferenceSettings.optional(),
      dataset_uuid: z.string().optional(),
      judge_model_uuid: z.string().optional(),
      metric_uuids: z.array(z.string()).optional(),
      star_metric: StarMetric.optional(),
      eval_preset_uuid: z.string().optional(),
      save_as_preset: z.boolean().optional(),
      preset_name: z.string().max(255).optional(),
      preset_save_sections: z.array(z.enum(presetSections)).optional(),
      source: z.string().optional(),
      limits: Limits.partial().optional(),
    }),
    returns: z.object({ eval_run_uuid: z.string() }),
    status: 200,
  }),
  list: get('/v2/gen-ai/model_evaluation_runs', {
    query: GenaiPage.extend({
      status: AnyStatus.optional(),
      statuses: items(AnyStatus),
      candidate_types: items(z.enum(candidateSources)),
      eval_preset_uuid: z.string().optional(),
      search: z.string().optional(),
      sort_by: z
        .enum([
          'MODEL_EVALUATION_RUN_SORT_FIELD_CREATED_AT',
          'MODEL_EVALUATION_RUN_SORT_FIELD_STATUS',
        ])
        .optional(),
      sort_direction: z.enum(['SORT_DIRECTION_ASC', 'SORT_DIRECTION_DESC']).optional(),
    }),
    returns: genaiListOf('runs', RunSummaryView).extend({
      available_statuses: z.array(AnyStatus),
      available_candidate_types: z.array(z.enum(candidateSources)),
    }),
  }),
  get: get('/v2/gen-ai/model_evaluation_runs/:eval_run_uuid', {
    query: GenaiPage.extend({ per_page: GenaiPage.shape.per_page.default(50) }),
    returns: genaiListOf('results', RunResult).extend({ run: RunDetail }),
  }),
  /** The public API renames; ours: a run suspended by its cost cap goes on with a higher one. */
  update: patch('/v2/gen-ai/model_evaluation_runs/:eval_run_uuid', {
    body: z.object({
      eval_run_uuid: z.string().optional(),
      name: z.string().trim().min(1).max(255).optional(),
      max_cost_usd: z.number().positive().optional(),
    }),
    returns: one('run', RunSummaryView),
  }),
  cancel: put('/v2/gen-ai/model_evaluation_runs/:eval_run_uuid/cancel', {
    body: z.object({ eval_run_uuid: z.string().optional() }),
    returns: one('run', RunSummaryView),
  }),
  delete: del('/v2/gen-ai/model_evaluation_runs/:eval_run_uuid', {
    returns: z.object({
      status: z.enum([
        'DELETE_MODEL_EVALUATION_RUN_STATUS_SUCCESS',
        'DELETE_MODEL_EVALUATION_RUN_STATUS_FAIL',
      ]),
      error: z.string().optional(),
    }),
  }),
  resultsDownloadUrl: get('/v2/gen-ai/model_evaluation_runs/:eval_run_uuid/results/download_url', {
    returns: SignedUrl,
  }),
}

export const presets = {
  list: get('/v2/gen-ai/model_evaluation_presets', {
    returns: z.object({ presets: z.array(Preset) }),
  }),
  get: get('/v2/gen-ai/model_evaluation_presets/:eval_preset_uuid', {
    returns: one('preset', Preset),
  }),
  delete: del('/v2/gen-ai/model_evaluation_presets/:eval_preset_uuid', {
    returns: z.object({}),
  }),
}

/** The saved parts of a run. */
export interface StoredPreset {
  eval_preset_uuid: string
  name: string
  saved_sections: PresetSection[]
  dataset?: { uuid: string; name: string }
  judge?: { uuid: string; name: string }
  candidate?: Extract<Candidate, { kind: 'model' }>
  inference?: InferenceConfig
  system_prompt?: string
  metric_uuids?: string[]
  star_metric?: StarMetric
  created_at: string
}

export const storedPresets = collection<StoredPreset>('model_evaluation_presets', {
  called: 'Evaluation preset',
  key: 'eval_preset_uuid',
})
