import type { Store } from '#platform/store/store.ts'
import type { MetricResult } from '../evaluation-metrics/contract.ts'
import {
  type AnswerRecord,
  answerKey,
  answerRecords,
  type RunRecord,
  type ScoreRecord,
  scoreRecords,
} from '../evaluation-runs/record.ts'
import { applies } from './needs.ts'

/** One row of the dataset and all that is known of it. */
export interface RowResult {
  answer: AnswerRecord
  scores: ScoreRecord[]
  /** In the order of the run's metrics; those still open are left out. */
  results: MetricResult[]
}

/** Rows `from` to `to` (without it), in the order of the dataset; unanswered ones are left out. */
export const rowResults = async (
  store: Store,
  run: RunRecord,
  from: number,
  to: number,
): Promise<RowResult[]> => {
  const length = Math.max(0, Math.min(to, run.dataset.rows) - from)
  const keys = Array.from({ length }, (_, at) => answerKey(run.uuid, from + at))
  const [answers, scores] = await Promise.all([
    store.collection(answerRecords).list({ where: { key: keys } }),
    store.collection(scoreRecords).list({ where: { answer: keys } }),
  ])
  const byAnswer = new Map<string, ScoreRecord[]>(answers.map(({ key }) => [key, []]))
  for (const score of scores) byAnswer.get(score.answer)?.push(score)
  return answers
    .toSorted((a, b) => a.index - b.index)
    .map((answer) => {
      const own = byAnswer.get(answer.key) ?? []
      return { answer, scores: own, results: resultsOf(run, answer, own) }
    })
}

/** All rows, some at a time. */
export async function* allRowResults(store: Store, run: RunRecord): AsyncGenerator<RowResult[]> {
  const step = 250
  for (let from = 0; from < run.dataset.rows; from += step) {
    yield await rowResults(store, run, from, from + step)
  }
}

const resultsOf = (run: RunRecord, answer: AnswerRecord, scores: ScoreRecord[]): MetricResult[] =>
  run.metrics.flatMap((metric) => {
    const { metric_uuid, metric_name, metric_value_type } = metric
    const score = scores.find(({ result }) => result.metric_uuid === metric_uuid)
    if (score) return [score.result]
    if (applies(metric, answer)) return []
    return [
      {
        metric_uuid,
        metric_name,
        metric_value_type,
        status: 'EVALUATION_METRIC_RESULT_STATUS_SKIPPED',
      },
    ]
  })
