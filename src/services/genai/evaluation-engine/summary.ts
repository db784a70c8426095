import type { Store } from '#platform/store/store.ts'
import type { Metric } from '../evaluation-metrics/contract.ts'
import type {
  GroupSummary,
  MetricSummary,
  Performance,
  RunRecord,
  RunSummary,
} from '../evaluation-runs/record.ts'
import { allRowResults, type RowResult } from './results.ts'
import { passes, thresholdOf } from './threshold.ts'

/** Everything that is told of a run as a whole, and of its parts by model and by task. */
export const summarise = async (store: Store, run: RunRecord): Promise<RunSummary> => {
  const whole = tally(run)
  const models = new Map<string, ReturnType<typeof tally>>()
  const tasks = new Map<string, ReturnType<typeof tally>>()
  const group = (groups: typeof models, name: string) => {
    const found = groups.get(name) ?? tally(run)
    groups.set(name, found)
    return found
  }
  let answered = 0
  const first: Pick<RunSummary, 'first_error' | 'first_score_error'> = {}
  for await (const rows of allRowResults(store, run)) {
    for (const row of rows) {
      whole.add(row)
      if (row.answer.output !== undefined) answered++
      if (row.answer.error) first.first_error ??= row.answer.error
      const failed = row.results.find(({ error_description }) => error_description)
      if (failed?.error_description) first.first_score_error ??= failed.error_description
      const { model, task } = row.answer
      if (model !== undefined) group(models, model).add(row)
      if (task !== undefined) group(tasks, task).add(row)
    }
  }
  const all = whole.summary()
  const rates = all.metric_summaries
    .filter((metric) => metric.pass_count + metric.fail_count > 0)
    .map((metric) => metric.pass_percent)
  return {
    ...all,
    overall_score_percent: rounded(
      rates.reduce((sum, rate) => sum + rate, 0) / (rates.length || 1),
    ),
    answered_count: answered,
    ...first,
    candidate_cost_usd: whole.cost.candidate,
    judge_cost_usd: whole.cost.judge,
    by_model: [...models].map(([name, part]) => ({
      name,
      ...part.summary(),
      cost_usd: part.cost.candidate,
    })),
    by_task: [...tasks].map(([name, part]) => ({ name, ...part.summary() })),
  }
}

const tally = (run: RunRecord) => {
  const metrics = run.metrics.map((metric) => metricTally(metric, thresholdOf(metric, run.star)))
  const latencies: number[] = []
  const cost = { candidate: 0, judge: 0 }
  const tokens = { candidate: [0, 0], judge: [0, 0] } as Record<string, [number, number]>
  const count = (who: 'candidate' | 'judge', spent: Spent) => {
    const [input, output] = tokens[who] ?? [0, 0]
    tokens[who] = [input + spent.input_tokens, output + spent.output_tokens]
    cost[who] += spent.cost_usd
  }
  let prompts = 0
  return {
    cost,
    add({ answer, scores, results }: RowResult) {
      prompts++
      count('candidate', answer)
      if (answer.output !== undefined && !answer.reused) latencies.push(answer.latency_ms)
      for (const score of scores) count('judge', score)
      for (const result of results) {
        const at = run.metrics.findIndex(({ metric_uuid }) => metric_uuid === result.metric_uuid)
        metrics[at]?.add(result, answer.index)
      }
    },
    summary: (): GroupSummary => ({
      prompt_count: prompts,
      metric_summaries: metrics.map((metric) => metric.summary()),
      performance_metrics: { candidate_latency: spread(latencies), token_usage: usage(tokens) },
    }),
  }
}

type Spent = { input_tokens: number; output_tokens: number; cost_usd: number }

const metricTally = (metric: Metric, threshold: number) => {
  let [passed, failed, skipped, scored, sum] = [0, 0, 0, 0, 0]
  let worst: MetricSummary['worst']
  const badness = (value: number) => (metric.inverted ? value : -value)
  return {
    add(result: RowResult['results'][number], index: number) {
      const { number_value: value, reasoning } = result
      if (result.status.endsWith('SKIPPED')) skipped++
      else if (value === undefined) failed++
      else {
        scored++
        sum += value
        if (passes(value, threshold, metric.inverted)) passed++
        else failed++
        if (!worst || badness(value) > badness(worst.value)) {
          worst = {
            row: index + 1,
            value,
            ...(reasoning && { reasoning: reasoning.slice(0, 500) }),
          }
        }
      }
    },
    summary: (): MetricSummary => {
      const judged = passed + failed
      const percent = (part: number, of: number) => rounded((100 * part) / (of || 1))
      return {
        metric_uuid: metric.metric_uuid,
        metric_name: metric.metric_name,
        ...(metric.description !== undefined && { description: metric.description }),
        pass_count: passed,
        pass_percent: percent(passed, judged),
        fail_count: failed,
        fail_percent: percent(failed, judged),
        skipped_count: skipped,
        skip_percent: percent(skipped, judged + skipped),
        scored_count: scored,
        threshold,
        ...(scored > 0 && { mean: rounded(sum / scored) }),
        ...(worst && { worst }),
      }
    },
  }
}

const spread = (latencies: number[]): Performance['candidate_latency'] => {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return {
    avg_e2e_latency_ms: rounded(sorted.reduce((sum, ms) => sum + ms, 0) / (sorted.length || 1)),
    min_e2e_latency_ms: sorted[0] ?? 0,
    max_e2e_latency_ms: sorted.at(-1) ?? 0,
    p50_latency_ms: at(0.5),
    p90_latency_ms: at(0.9),
    p95_latency_ms: at(0.95),
  }
}

const usage = (tokens: Record<string, [number, number]>): Performance['token_usage'] => {
  const [candidateIn, candidateOut] = tokens.candidate ?? [0, 0]
  const [judgeIn, judgeOut] = tokens.judge ?? [0, 0]
  return {
    total_candidate_input_tokens: String(candidateIn),
    total_candidate_output_tokens: String(candidateOut),
    total_candidate_tokens: String(candidateIn + candidateOut),
    total_judge_input_tokens: String(judgeIn),
    total_judge_output_tokens: String(judgeOut),
    total_judge_tokens: String(judgeIn + judgeOut),
  }
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
