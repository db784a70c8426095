import type { RunRecord, RunStatus, RunSummary } from '../evaluation-runs/record.ts'

/** How a run ended: what was asked and could not be scored makes it partly or wholly a failure. */
export const outcomeOf = (
  run: RunRecord,
  summary: RunSummary,
  problem = run.error,
): { status: RunStatus; error?: string } => {
  const rows = run.dataset.rows
  const scored = sum(summary, 'scored_count')
  const unscored = sum(summary, 'fail_count') + sum(summary, 'pass_count') - scored
  const faults = [
    problem,
    summary.answered_count < rows &&
      `${rows - summary.answered_count} of ${rows} prompts have no answer${because(summary.first_error)}`,
    unscored > 0 && `${unscored} scores failed${because(summary.first_score_error)}`,
  ].filter((fault) => typeof fault === 'string')
  if (scored === 0) {
    const error = faults.join('; ') || 'No metric applied to any prompt.'
    return { status: 'FAILED', error }
  }
  if (faults.length > 0) return { status: 'PARTIALLY_SUCCESSFUL', error: faults.join('; ') }
  return { status: 'SUCCESSFUL' }
}

const because = (error: string | undefined): string => (error ? ` (first: ${error})` : '')

const sum = (summary: RunSummary, field: 'scored_count' | 'fail_count' | 'pass_count'): number =>
  summary.metric_summaries.reduce((total, metric) => total + metric[field], 0)
