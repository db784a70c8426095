import type { RowResult } from '../evaluation-engine/results.ts'
import { thresholdOf } from '../evaluation-engine/threshold.ts'
import type {
  GroupSummary,
  MetricSummary,
  RunRecord,
  RunSummary,
} from '../evaluation-runs/record.ts'
import {
  type CandidateSource,
  modelRunPrefix,
  type RunDetail,
  type RunResult,
  type RunSummaryView,
} from './contract.ts'

export interface Progress {
  total_rows: number
  candidate_rows_evaluated: number
  judge_rows_evaluated: number
}

/** A model run in a list. */
export const shownSummary = (run: RunRecord, progress: Progress): RunSummaryView => {
  const { candidate, judge, dataset } = run
  return {
    eval_run_uuid: run.uuid,
    name: run.name,
    status: `${modelRunPrefix}${run.status}`,
    candidate_model_name: candidate.name,
    ...(candidate.kind === 'model' && { candidate_model_uuid: candidate.uuid }),
    candidate_model_source: sourceOf(run),
    ...(judge && { judge_model_name: judge.name, judge_model_uuid: judge.uuid }),
    dataset_name: dataset.name,
    dataset_uuid: dataset.uuid,
    created_at: run.created_at,
    progress,
  }
}

export const sourceOf = ({ candidate }: RunRecord): CandidateSource =>
  candidate.kind === 'model'
    ? (candidate.source as CandidateSource)
    : 'CANDIDATE_MODEL_SOURCE_SERVERLESS'

/** A model run with everything that is known of it but its rows. */
export const shownDetail = (run: RunRecord, progress: Progress): RunDetail => {
  const { summary } = run
  const error = run.suspended ? `Suspended: ${run.suspended}` : run.error
  return {
    ...shownSummary(run, progress),
    candidate_inference_config: run.inference,
    metrics: run.metrics,
    ...(run.star && { star_metric: run.star }),
    ...(run.preset_uuid && { eval_preset_uuid: run.preset_uuid }),
    ...(run.preset_name && { eval_preset_name: run.preset_name }),
    ...(error !== undefined && { error_description: error }),
    ...(run.started_at && { started_at: run.started_at }),
    ...(run.completed_at && { completed_at: run.completed_at }),
    ...(summary && { result_summary: resultSummary(run, summary) }),
    limits: run.limits,
    ...(run.suspended && { suspended: run.suspended }),
  }
}

const resultSummary = (run: RunRecord, summary: RunSummary): RunDetail['result_summary'] => {
  const { star } = run
  const starred =
    star &&
    run.metrics.find(
      ({ metric_uuid, metric_name }) =>
        metric_uuid === star.metric_uuid || metric_name === star.name,
    )
  const [start, end] = [run.started_at, run.completed_at]
  return {
    metric_summaries: summary.metric_summaries.map(shownMetric),
    overall_score_percent: summary.overall_score_percent,
    ...(starred && {
      star_metric_summary: {
        metric_uuid: starred.metric_uuid,
        metric_name: starred.metric_name,
        threshold: star.success_threshold_pct ?? thresholdOf(starred, star),
      },
    }),
    performance_metrics: summary.performance_metrics,
    pricing: {
      currency: 'USD',
      total_cost: summary.candidate_cost_usd + summary.judge_cost_usd,
      judge_model_pricing: { total_cost: summary.judge_cost_usd },
      per_candidate_model_pricing: summary.by_model.map(({ name, prompt_count, cost_usd }) => ({
        model_name: name,
        prompt_count,
        pricing: { total_cost: cost_usd },
      })),
    },
    ...(sourceOf(run) === 'CANDIDATE_MODEL_SOURCE_ROUTER' && {
      per_model_summaries: {
        summaries: summary.by_model.map((part) => ({ model_name: part.name, ...shownGroup(part) })),
      },
      per_task_summaries: {
        summaries: summary.by_task.map((part) => ({ task_name: part.name, ...shownGroup(part) })),
      },
    }),
    ...(start && { start_time: start }),
    ...(end && { end_time: end }),
    ...(start &&
      end && { total_duration_seconds: Math.round((Date.parse(end) - Date.parse(start)) / 1000) }),
  }
}

const shownGroup = ({ prompt_count, metric_summaries, performance_metrics }: GroupSummary) => ({
  prompt_count,
  metric_summaries: metric_summaries.map(shownMetric),
  performance_metrics,
})

const shownMetric = ({ worst: _worst, ...metric }: MetricSummary) => metric

/** One row of the dataset. */
export const shownResult = ({ answer, results }: RowResult): RunResult => ({
  input: answer.input,
  ...(answer.output !== undefined && { output: answer.output }),
  ...(answer.ground_truth !== undefined && { ground_truth: answer.ground_truth }),
  ...(answer.model !== undefined && { candidate_model_name: answer.model }),
  ...(answer.task !== undefined && { candidate_routed_task: answer.task }),
  metric_results: results,
  row: answer.index + 1,
  ...(answer.error !== undefined && { error_description: answer.error }),
  latency_ms: answer.latency_ms,
  cost_usd: answer.cost_usd,
})
