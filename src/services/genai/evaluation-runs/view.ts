import type { RowResult } from '../evaluation-engine/results.ts'
import type { Metric, MetricResult, StarMetric } from '../evaluation-metrics/contract.ts'
import { agentRunPrefix, type EvaluationRun, type Prompt } from './contract.ts'
import type { MetricSummary, RunRecord } from './record.ts'

/** An agent run as the API shows it. */
export const shownRun = (run: RunRecord, agentExists: boolean): EvaluationRun => {
  const { agent, test_case, candidate, summary, star } = run
  const results = summary
    ? run.metrics.map((metric, at) => runLevel(metric, summary.metric_summaries[at]))
    : []
  const starred = star && results.find((result) => isStar(star, result))
  return {
    evaluation_run_uuid: run.uuid,
    run_name: run.name,
    status: `${agentRunPrefix}${run.status}`,
    test_case_uuid: test_case?.uuid ?? '',
    test_case_name: test_case?.name ?? '',
    ...(test_case?.description !== undefined && { test_case_description: test_case.description }),
    test_case_version: test_case?.version ?? 0,
    agent_uuid: agent?.uuid ?? '',
    agent_name: agent?.name ?? '',
    agent_deployment_name: candidate.name,
    ...(agent?.workspace_uuid && { agent_workspace_uuid: agent.workspace_uuid }),
    agent_deleted: !agentExists,
    ...(test_case && { evaluation_test_case_workspace_uuid: test_case.workspace_uuid }),
    ...(run.error !== undefined && { error_description: run.error }),
    queued_at: run.created_at,
    ...(run.started_at && { started_at: run.started_at }),
    ...(run.completed_at && { finished_at: run.completed_at }),
    ...(starred && { star_metric_result: starred, pass_status: isSuccess(star, starred, run) }),
    run_level_metric_results: results,
  }
}

const isStar = (star: StarMetric, result: { metric_uuid: string; metric_name: string }) =>
  result.metric_uuid === star.metric_uuid || result.metric_name === star.name

/** The star metric's mean reaches what was asked; for a metric where less is better, stays below. */
const isSuccess = (
  star: StarMetric,
  { number_value, metric_uuid }: MetricResult,
  run: RunRecord,
) => {
  if (number_value === undefined) return false
  const metric = run.metrics.find((one) => one.metric_uuid === metric_uuid)
  const asked = star.success_threshold ?? star.success_threshold_pct ?? 80
  if (!metric?.inverted) return number_value >= asked
  return number_value <= (star.success_threshold ?? 100 - asked)
}

const runLevel = (metric: Metric, summary: MetricSummary | undefined): MetricResult => {
  const { metric_uuid, metric_name, metric_value_type } = metric
  const base = { metric_uuid, metric_name, metric_value_type }
  if (summary?.mean !== undefined) {
    return {
      ...base,
      status: 'EVALUATION_METRIC_RESULT_STATUS_COMPLETED',
      number_value: summary.mean,
      reasoning: inWords(metric, summary),
    }
  }
  const failed = summary && summary.fail_count > 0
  return {
    ...base,
    status: `EVALUATION_METRIC_RESULT_STATUS_${failed ? 'FAILED' : 'SKIPPED'}`,
    reasoning: failed
      ? 'No prompt could be scored.'
      : `No prompt has what this metric needs (${(metric.needs ?? []).join(', ') || 'an answer'}).`,
  }
}

const inWords = (metric: Metric, summary: MetricSummary): string => {
  const side = metric.inverted ? 'at most' : 'at least'
  const unscored = summary.pass_count + summary.fail_count - summary.scored_count
  const { worst } = summary
  return [
    `Mean of ${summary.scored_count} prompts; ${summary.pass_count} pass (${side} ${summary.threshold}).`,
    unscored > 0 ? `${unscored} could not be scored.` : '',
    worst
      ? `Worst is prompt ${worst.row} with ${worst.value}${worst.reasoning ? `: ${worst.reasoning}` : '.'}`
      : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

/** One prompt of an agent run. */
export const shownPrompt = ({ answer, results }: RowResult): Prompt => ({
  prompt_id: answer.index + 1,
  input: answer.input,
  ...(answer.output !== undefined && { output: answer.output }),
  ...(answer.ground_truth !== undefined && { ground_truth: answer.ground_truth }),
  input_tokens: String(answer.input_tokens),
  output_tokens: String(answer.output_tokens),
  ...(answer.chunks && { prompt_chunks: answer.chunks }),
  prompt_level_metric_results: results,
  ...(answer.error !== undefined && { error_description: answer.error }),
})
