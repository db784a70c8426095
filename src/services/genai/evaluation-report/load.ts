import type { Api } from '#client/client.ts'
import { ApiError } from '#core/error.ts'
import { thresholdOf } from '../evaluation-engine/threshold.ts'
import type { Metric, MetricResult, StarMetric } from '../evaluation-metrics/contract.ts'
import { evaluationRuns } from '../evaluation-runs/contract.ts'
import { testCases } from '../evaluation-test-cases/contract.ts'
import { modelEvaluations } from '../model-evaluations/contract.ts'

/** A run of either kind with all its rows, as reports see it. */
export interface EvaluatedRun {
  uuid: string
  name: string
  kind: 'model' | 'agent'
  status: string
  error: string | undefined
  candidate: string
  judge: string | undefined
  dataset: string | undefined
  created_at: string | undefined
  started_at: string | undefined
  completed_at: string | undefined
  cost_usd: number | undefined
  latency_ms: Record<string, number> | undefined
  tokens: Record<string, string> | undefined
  total_rows: number
  metrics: {
    name: string
    description: string
    inverted: boolean
    threshold: number
    min: number
    max: number
  }[]
  rows: EvaluatedRow[]
}

export interface EvaluatedRow {
  /** From 1. */
  row: number
  input: string
  output: string | undefined
  ground_truth: string | undefined
  error: string | undefined
  latency_ms: number | undefined
  cost_usd: number | undefined
  scores: {
    name: string
    status: string
    value: number | undefined
    reasoning: string | undefined
    error: string | undefined
    agreement: number | undefined
  }[]
}

/** Rows of one request. */
const pageSize = 500

export const loadRun = async (api: Api, uuid: string): Promise<EvaluatedRun> => {
  try {
    return await loadModelRun(api, uuid)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return loadAgentRun(api, uuid)
  }
}

const loadModelRun = async (api: Api, eval_run_uuid: string): Promise<EvaluatedRun> => {
  const { last, all } = await everyPage(async (page) => {
    const query = { page, per_page: pageSize }
    const answer = await api(modelEvaluations.get, { path: { eval_run_uuid }, query })
    return { ...answer, items: answer.results }
  })
  const { run } = last
  const { result_summary: summary } = run
  return {
    uuid: run.eval_run_uuid,
    name: run.name,
    kind: 'model',
    status: run.status,
    error: run.error_description,
    candidate: run.candidate_model_name,
    judge: run.judge_model_name,
    dataset: run.dataset_name,
    created_at: run.created_at,
    started_at: run.started_at,
    completed_at: run.completed_at,
    cost_usd: summary?.pricing?.total_cost,
    latency_ms: summary?.performance_metrics.candidate_latency,
    tokens: summary?.performance_metrics.token_usage,
    total_rows: run.progress.total_rows,
    metrics: run.metrics.map((metric) => shownMetric(metric, run.star_metric)),
    rows: all.map((result, at) => ({
      row: result.row ?? at + 1,
      input: result.input,
      output: result.output,
      ground_truth: result.ground_truth,
      error: result.error_description,
      latency_ms: result.latency_ms,
      cost_usd: result.cost_usd,
      scores: result.metric_results.map(shownScore),
    })),
  }
}

const loadAgentRun = async (api: Api, evaluation_run_uuid: string): Promise<EvaluatedRun> => {
  const { last, all } = await everyPage(async (page) => {
    const query = { page, per_page: pageSize }
    const answer = await api(evaluationRuns.results, { path: { evaluation_run_uuid }, query })
    return { ...answer, items: answer.prompts }
  })
  const run = last.evaluation_run
  const { evaluation_test_case: testCase } = await api(testCases.get, {
    path: { test_case_uuid: run.test_case_uuid },
    query: { evaluation_test_case_version: run.test_case_version },
  })
  return {
    uuid: run.evaluation_run_uuid,
    name: run.run_name,
    kind: 'agent',
    status: run.status,
    error: run.error_description,
    candidate: run.agent_deployment_name,
    judge: undefined,
    dataset: testCase.dataset_name,
    created_at: run.queued_at,
    started_at: run.started_at,
    completed_at: run.finished_at,
    cost_usd: undefined,
    latency_ms: undefined,
    tokens: undefined,
    total_rows: last.meta?.total ?? all.length,
    metrics: testCase.metrics.map((metric) => shownMetric(metric, testCase.star_metric)),
    rows: all.map((prompt) => ({
      row: prompt.prompt_id,
      input: prompt.input,
      output: prompt.output,
      ground_truth: prompt.ground_truth,
      error: prompt.error_description,
      latency_ms: undefined,
      cost_usd: undefined,
      scores: prompt.prompt_level_metric_results.map(shownScore),
    })),
  }
}

const shownMetric = (metric: Metric, star: StarMetric | undefined) => ({
  name: metric.metric_name,
  description: metric.description ?? '',
  inverted: metric.inverted ?? false,
  threshold: thresholdOf(metric, star),
  min: metric.range_min ?? 0,
  max: metric.range_max ?? 100,
})

const shownScore = (result: MetricResult) => ({
  name: result.metric_name,
  status: result.status.replace('EVALUATION_METRIC_RESULT_STATUS_', ''),
  value: result.number_value,
  reasoning: result.reasoning,
  error: result.error_description,
  agreement: result.agreement,
})

const everyPage = async <A extends { meta?: { pages: number } | undefined }, T>(
  read: (page: number) => Promise<A & { items: T[] }>,
): Promise<{ last: A; all: T[] }> => {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const last = await read(page)
    all.push(...last.items)
    if (page >= (last.meta?.pages ?? 1)) return { last, all }
  }
}
