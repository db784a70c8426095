import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

const { get, post, put, del } = resource('genai')

export const metricCategories = [
  'METRIC_CATEGORY_CORRECTNESS',
  'METRIC_CATEGORY_USER_OUTCOMES',
  'METRIC_CATEGORY_SAFETY_AND_SECURITY',
  'METRIC_CATEGORY_CONTEXT_QUALITY',
  'METRIC_CATEGORY_MODEL_FIT',
] as const
export type MetricCategory = (typeof metricCategories)[number]

const prefixed = <const V extends readonly string[]>(prefix: string, values: V) =>
  z.enum(values.map((value) => `${prefix}${value}`) as [string, ...string[]])

const CustomConfig = z.object({
  scoring_prompt: z.string().min(1).max(20_000),
  requires_ground_truth: z.boolean().optional(),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
  deleted_at: Timestamp.optional(),
})

export const Metric = z.object({
  metric_uuid: z.string(),
  metric_name: z.string(),
  description: z.string().optional(),
  category: z.enum(['METRIC_CATEGORY_UNSPECIFIED', ...metricCategories]),
  metric_type: prefixed('METRIC_TYPE_', [
    'UNSPECIFIED',
    'GENERAL_QUALITY',
    'RAG_AND_TOOL',
    'MODEL_QUALITY',
    'MODEL_SAFETY',
  ]),
  metric_value_type: prefixed('METRIC_VALUE_TYPE_', [
    'UNSPECIFIED',
    'NUMBER',
    'STRING',
    'PERCENTAGE',
  ]),
  evaluation_scope: prefixed('EVALUATION_SCOPE_', ['UNSPECIFIED', 'AGENT', 'MODEL']),
  source: prefixed('EVALUATION_METRIC_SOURCE_', ['UNSPECIFIED', 'BUILTIN', 'CUSTOM']),
  range_min: z.number().optional(),
  range_max: z.number().optional(),
  /** Lower is better. */
  inverted: z.boolean().optional(),
  is_metric_goal: z.boolean().optional(),
  metric_rank: z.number().int().optional(),
  custom_eval_config: CustomConfig.optional(),
  associated_presets: z
    .array(z.object({ eval_preset_uuid: z.string(), name: z.string() }))
    .optional(),
  /** Ours: how a value comes about; only `judge` and `pairwise` cost calls to a judge model. */
  scoring: z.enum(['judge', 'pairwise', 'computed']).optional(),
  /** Ours: what a prompt must have to be scored; without it the metric is skipped. */
  needs: z.array(z.enum(['ground_truth', 'context'])).optional(),
  /** Ours: the value from which on a prompt passes; below it for an inverted metric. */
  pass_threshold: z.number().optional(),
})
export type Metric = z.infer<typeof Metric>

export const MetricResult = z.object({
  metric_uuid: z.string(),
  metric_name: z.string(),
  metric_value_type: z.string().optional(),
  number_value: z.number().optional(),
  string_value: z.string().optional(),
  reasoning: z.string().optional(),
  status: prefixed('EVALUATION_METRIC_RESULT_STATUS_', ['COMPLETED', 'FAILED', 'SKIPPED']),
  error_description: z.string().optional(),
  /** Ours: what each repeat of the judgement gave, and the share that agrees on pass or fail. */
  samples: z.array(z.number()).optional(),
  agreement: z.number().optional(),
})
export type MetricResult = z.infer<typeof MetricResult>

/** The metric that decides whether a run is a success. */
export const StarMetric = z.object({
  metric_uuid: z.string().optional(),
  name: z.string().optional(),
  success_threshold: z.number().optional(),
  success_threshold_pct: z.number().int().min(0).max(100).optional(),
})
export type StarMetric = z.infer<typeof StarMetric>

const NewMetric = z.object({
  metric_name: z.string().trim().min(1).max(255),
  description: z.string().max(2000).optional(),
  config: CustomConfig,
})

export const metrics = {
  listForAgents: get('/v2/gen-ai/evaluation_metrics', {
    returns: z.object({ metrics: z.array(Metric) }),
  }),
  listForModels: get('/v2/gen-ai/model_evaluation_metrics', {
    returns: z.object({ metrics: z.array(Metric) }),
  }),
  create: post('/v2/gen-ai/custom_evaluation_metrics', {
    body: NewMetric,
    returns: one('metric', Metric),
    status: 200,
  }),
  /** Answers with a new uuid: runs that used the old text keep it. */
  update: put('/v2/gen-ai/custom_evaluation_metrics/:metric_uuid', {
    body: NewMetric.partial().extend({ metric_uuid: z.string().optional() }),
    returns: one('metric', Metric),
  }),
  delete: del('/v2/gen-ai/custom_evaluation_metrics/:metric_uuid', {
    returns: one('metric', Metric),
  }),
}
