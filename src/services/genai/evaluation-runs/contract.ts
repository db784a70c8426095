import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'
import { MetricResult } from '../evaluation-metrics/contract.ts'
import { Limits, runStatuses } from './record.ts'

const { get, post } = resource('genai')

export const agentRunPrefix = 'EVALUATION_RUN_'

export const EvaluationRun = z.object({
  evaluation_run_uuid: z.string(),
  run_name: z.string(),
  status: z.enum(runStatuses.map((status) => `${agentRunPrefix}${status}`)),
  test_case_uuid: z.string(),
  test_case_name: z.string(),
  test_case_description: z.string().optional(),
  test_case_version: z.number().int(),
  agent_uuid: z.string(),
  agent_name: z.string(),
  agent_deployment_name: z.string(),
  agent_workspace_uuid: z.string().optional(),
  agent_deleted: z.boolean().optional(),
  evaluation_test_case_workspace_uuid: z.string().optional(),
  pass_status: z.boolean().optional(),
  error_description: z.string().optional(),
  queued_at: Timestamp,
  started_at: Timestamp.optional(),
  finished_at: Timestamp.optional(),
  star_metric_result: MetricResult.optional(),
  run_level_metric_results: z.array(MetricResult),
})
export type EvaluationRun = z.infer<typeof EvaluationRun>

export const Prompt = z.object({
  prompt_id: z.number().int(),
  input: z.string(),
  output: z.string().optional(),
  ground_truth: z.string().optional(),
  input_tokens: z.string().optional(),
  output_tokens: z.string().optional(),
  prompt_chunks: z
    .array(z.object({ text: z.string(), source_name: z.string().optional() }))
    .optional(),
  prompt_level_metric_results: z.array(MetricResult),
  /** Ours: why there is no output. */
  error_description: z.string().optional(),
})
export type Prompt = z.infer<typeof Prompt>

const Run = z.object({ evaluation_run: EvaluationRun })

export const evaluationRuns = {
  /** One run a deployment. */
  create: post('/v2/gen-ai/evaluation_runs', {
    body: z.object({
      test_case_uuid: z.string().min(1),
      run_name: z.string().trim().min(1).max(255),
      agent_deployment_names: z.array(z.string().min(1)).optional(),
      agent_uuids: z.array(z.string().min(1)).optional(),
      /** Ours: who judges, the first chat model of this Cove unless it is said; what it may use. */
      judge_model_uuid: z.string().optional(),
      limits: Limits.partial().optional(),
    }),
    returns: z.object({ evaluation_run_uuids: z.array(z.string()) }),
    status: 200,
  }),
  get: get('/v2/gen-ai/evaluation_runs/:evaluation_run_uuid', { returns: Run }),
  results: get('/v2/gen-ai/evaluation_runs/:evaluation_run_uuid/results', {
    query: GenaiPage,
    returns: genaiListOf('prompts', Prompt).extend(Run.shape),
  }),
  prompt: get('/v2/gen-ai/evaluation_runs/:evaluation_run_uuid/results/:prompt_id', {
    returns: z.object({ prompt: Prompt }),
  }),
  listOfTestCase: get('/v2/gen-ai/evaluation_test_cases/:test_case_uuid/evaluation_runs', {
    query: z.object({
      evaluation_test_case_version: z.coerce.number<number | string>().int().min(1).optional(),
    }),
    returns: z.object({ evaluation_runs: z.array(EvaluationRun) }),
  }),
}
