import type { Metric } from '../evaluation-metrics/contract.ts'
import type { AnswerRecord } from '../evaluation-runs/record.ts'

/** Whether an answer has what a metric needs; otherwise the metric is skipped. */
export const applies = (metric: Metric, answer: AnswerRecord): boolean =>
  answer.output !== undefined &&
  (metric.needs ?? []).every((need) =>
    need === 'ground_truth' ? answer.ground_truth !== undefined : Boolean(answer.chunks?.length),
  )
