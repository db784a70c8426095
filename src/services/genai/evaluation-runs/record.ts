import { z } from 'zod'
import { collection } from '#core/collection.ts'
import type { Metric, MetricResult, StarMetric } from '../evaluation-metrics/contract.ts'

/** Without the prefix that agent and model runs put before them. */
export const runStatuses = [
  'QUEUED',
  'RUNNING_DATASET',
  'EVALUATING_RESULTS',
  'CANCELLING',
  'CANCELLED',
  'SUCCESSFUL',
  'PARTIALLY_SUCCESSFUL',
  'FAILED',
] as const
export type RunStatus = (typeof runStatuses)[number]

export const finalStatuses: readonly string[] = [
  'CANCELLED',
  'SUCCESSFUL',
  'PARTIALLY_SUCCESSFUL',
  'FAILED',
]

export const isFinal = (status: string): boolean => finalStatuses.includes(status)

/** Who answers: a model of this Cove (or `router:<name>`), or the deployment of an agent. */
export type Candidate =
  | { kind: 'model'; name: string; uuid: string; source: string }
  | {
      kind: 'deployment'
      name: string
      url: string
      protocol: 'openai' | 'http' | 'model'
      model?: string
      api_key_env?: string
      instruction?: string
    }

export interface InferenceConfig {
  max_tokens?: number
  temperature?: number
  top_p?: number
  stop_token?: string
  system_prompt?: string
}

/** Ours: what a run may use. */
export const Limits = z.object({
  /** Calls to one model at once, at most. */
  max_parallel: z.number().int().min(1).max(256).default(32),
  /** Judgements of each metric; the median counts. */
  judge_samples: z.number().int().min(1).max(9).default(1),
  /** Spend no more than this; the run is suspended before it would. */
  max_cost_usd: z.number().positive().optional(),
  /** Take answers that earlier runs got to the same request. */
  reuse_answers: z.boolean().default(false),
})
export type RunLimits = z.output<typeof Limits>

/** A run of either kind, as it is kept; agent and model runs show different faces of it. */
export interface RunRecord {
  uuid: string
  kind: 'agent' | 'model'
  name: string
  status: RunStatus
  candidate: Candidate
  inference: InferenceConfig
  judge?: { name: string; uuid: string }
  dataset: {
    uuid: string
    name: string
    object_key: string
    file_name: string
    rows: number
    has_ground_truth: boolean
  }
  metrics: Metric[]
  star?: StarMetric
  limits: RunLimits
  preset_uuid?: string
  preset_name?: string
  /** Of an agent run. */
  test_case?: {
    uuid: string
    version: number
    name: string
    description?: string
    workspace_uuid: string
  }
  agent?: { uuid: string; name: string; workspace_uuid?: string }
  /** Why nothing happens although the run is not over. */
  suspended?: string
  error?: string
  created_at: string
  started_at?: string
  completed_at?: string
  summary?: RunSummary
  test_case_uuid?: string
  dataset_uuid: string
}

/** What one dataset row came to. Written once, when the candidate has answered or failed. */
export interface AnswerRecord {
  /** `<run>/<index>` */
  key: string
  run: string
  /** From 0, in the order of the dataset. */
  index: number
  /** `<run>/answered`, `<run>/failed`, `<run>/scored`: where it stands, as one field to find it by. */
  stage: string
  input: string
  ground_truth?: string
  output?: string
  error?: string
  model?: string
  task?: string
  input_tokens: number
  output_tokens: number
  cost_usd: number
  latency_ms: number
  chunks?: { text: string; source_name?: string }[]
  reused?: true
}

/** What one metric made of one answer. */
export interface ScoreRecord {
  /** `<run>/<index>/<metric>` */
  key: string
  run: string
  answer: string
  result: MetricResult
  input_tokens: number
  output_tokens: number
  cost_usd: number
}

export interface MetricSummary {
  metric_uuid: string
  metric_name: string
  description?: string
  pass_count: number
  pass_percent: number
  fail_count: number
  fail_percent: number
  skipped_count: number
  skip_percent: number
  /** Ours: over the scored prompts; none when no prompt was scored. */
  mean?: number
  scored_count: number
  threshold: number
  worst?: { row: number; value: number; reasoning?: string }
}

export interface Performance {
  candidate_latency: Record<
    | 'avg_e2e_latency_ms'
    | 'min_e2e_latency_ms'
    | 'max_e2e_latency_ms'
    | 'p50_latency_ms'
    | 'p90_latency_ms'
    | 'p95_latency_ms',
    number
  >
  token_usage: Record<
    | 'total_candidate_input_tokens'
    | 'total_candidate_output_tokens'
    | 'total_candidate_tokens'
    | 'total_judge_input_tokens'
    | 'total_judge_output_tokens'
    | 'total_judge_tokens',
    string
  >
}

export interface GroupSummary {
  prompt_count: number
  metric_summaries: MetricSummary[]
  performance_metrics: Performance
}

export interface RunSummary extends GroupSummary {
  overall_score_percent: number
  /** Prompts with an answer; the first reasons why others, or their scores, have none. */
  answered_count: number
  first_error?: string
  first_score_error?: string
  candidate_cost_usd: number
  judge_cost_usd: number
  /** By the model that answered, and by the task a router saw in the prompt. */
  by_model: ({ name: string } & GroupSummary & { cost_usd: number })[]
  by_task: ({ name: string } & GroupSummary)[]
}

export const runRecords = collection<RunRecord>('evaluation_runs', {
  called: 'Evaluation run',
  key: 'uuid',
  indexes: ['kind', 'status', 'test_case_uuid', 'dataset_uuid', 'preset_uuid'],
  reconciled: true,
})

export const answerRecords = collection<AnswerRecord>('evaluation_answers', {
  called: 'Evaluation answer',
  key: 'key',
  indexes: ['run', 'stage'],
})

export const scoreRecords = collection<ScoreRecord>('evaluation_scores', {
  called: 'Evaluation score',
  key: 'key',
  indexes: ['run', 'answer'],
})

export const answerKey = (run: string, index: number): string => `${run}/${index}`

export const scoreKey = (answer: string, metric: string): string => `${answer}/${metric}`

export const stageOf = (run: string, stage: 'answered' | 'failed' | 'scored'): string =>
  `${run}/${stage}`

/** How far a status is on the way; also for values that only some clouds use. */
export const phaseOrder = (status: string): number => {
  if (isFinal(status)) return 3
  const known: Record<string, number> = { RUNNING: 1, RUNNING_DATASET: 1, EVALUATING_RESULTS: 2 }
  return known[status] ?? 0
}
