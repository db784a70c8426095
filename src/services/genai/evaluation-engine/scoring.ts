import { messageOf } from '#core/error.ts'
import { computedScores } from '../evaluation-metrics/computed.ts'
import type { Metric, MetricResult } from '../evaluation-metrics/contract.ts'
import {
  type AnswerRecord,
  answerRecords,
  type ScoreRecord,
  scoreKey,
  scoreRecords,
  stageOf,
} from '../evaluation-runs/record.ts'
import { callModel, type Work } from './bench.ts'
import { CapReached, type Price } from './budget.ts'
import { type JudgeHabits, judge, type Verdict } from './judge.ts'
import { applies } from './needs.ts'
import { createPool } from './pool.ts'
import { createPatienceMeter } from './stop.ts'
import { thresholdOf } from './threshold.ts'

/** Answers that are read ahead of the judge. */
const readAhead = 64

/** The second phase: every answer is scored by every metric that applies, once. */
export const scoreAnswers = async (
  work: Work,
  price: Price,
  habits: JudgeHabits,
): Promise<void> => {
  const { run, store, signal } = work
  const answers = store.collection(answerRecords)
  const resumed = (await store.collection(scoreRecords).count({ run: run.uuid })) > 0
  const pool = createPool(run.limits.max_parallel)
  const meter = createPatienceMeter(run.judge?.name ?? 'scoring')
  const underWay = new Set<string>()

  const waiting = () =>
    answers.list({
      where: { stage: stageOf(run.uuid, 'answered') },
      limit: readAhead + underWay.size,
    })

  await pool.until(async () => {
    for (;;) {
      signal.throwIfAborted()
      const fresh = (await waiting()).filter(({ key }) => !underWay.has(key))
      if (fresh.length === 0 && underWay.size === 0) return
      if (fresh.length === 0) await pool.next()
      for (const answer of fresh) {
        underWay.add(answer.key)
        await pool.add(async () => {
          await scoreAnswer(work, price, habits, answer, resumed, meter)
          underWay.delete(answer.key)
        })
      }
    }
  })
}

const scoreAnswer = async (
  work: Work,
  price: Price,
  habits: JudgeHabits,
  answer: AnswerRecord,
  resumed: boolean,
  meter: ReturnType<typeof createPatienceMeter>,
) => {
  const { run, store, commit } = work
  const before = resumed
    ? await store.collection(scoreRecords).list({ where: { answer: answer.key } })
    : []
  const done = new Set(before.map(({ result }) => result.metric_uuid))
  const open = run.metrics.filter(
    (metric) => applies(metric, answer) && !done.has(metric.metric_uuid),
  )
  const finish = { ...answer, stage: stageOf(run.uuid, 'scored') }
  if (open.length === 0) return commit((tx) => tx.collection(answerRecords).put(finish))
  let left = open.length
  const failures: unknown[] = []
  const outcomes = await Promise.allSettled(
    open.map(async (metric) => {
      const score = await scoreOf(work, price, habits, metric, answer, failures)
      const last = --left === 0
      await commit(async (tx) => {
        await tx.collection(scoreRecords).put(score)
        if (last) await tx.collection(answerRecords).put(finish)
      })
    }),
  )
  const stopped = outcomes.find((outcome) => outcome.status === 'rejected')
  if (stopped) throw stopped.reason
  // A judge that answers anything about this row is at work, even if one metric is beyond it.
  const judged = open.filter(({ scoring }) => scoring !== 'computed').length
  if (judged > failures.length) meter.succeeded()
  else if (judged > 0) meter.failed(failures[0])
}

/** A metric that cannot be told has failed: it has no value, least of all zero. */
const scoreOf = async (
  work: Work,
  price: Price,
  habits: JudgeHabits,
  metric: Metric,
  answer: AnswerRecord,
  failures: unknown[],
): Promise<ScoreRecord> => {
  const { run, signal } = work
  const spent = { input_tokens: 0, output_tokens: 0, cost_usd: 0 }
  const result = (more: Partial<MetricResult> & Pick<MetricResult, 'status'>): ScoreRecord => ({
    key: scoreKey(answer.key, metric.metric_uuid),
    run: run.uuid,
    answer: answer.key,
    result: {
      metric_uuid: metric.metric_uuid,
      metric_name: metric.metric_name,
      metric_value_type: metric.metric_value_type,
      ...more,
    },
    ...spent,
  })
  try {
    const verdict =
      metric.scoring === 'computed'
        ? await compute(work, metric, answer)
        : await askJudge(work, price, habits, metric, answer, spent)
    return result({ status: 'EVALUATION_METRIC_RESULT_STATUS_COMPLETED', ...verdict })
  } catch (error) {
    if (signal.aborted || error instanceof CapReached) throw error
    if (metric.scoring !== 'computed') failures.push(error)
    return result({
      status: 'EVALUATION_METRIC_RESULT_STATUS_FAILED',
      error_description: messageOf(error),
    })
  }
}

const compute = async (
  { similarity, signal }: Work,
  metric: Metric,
  { output = '', ground_truth: truth = '' }: AnswerRecord,
): Promise<Verdict> => {
  const score = computedScores[metric.metric_name]
  if (!score) throw new Error(`There is no computation for ${metric.metric_name}.`)
  const value = await score({ output, truth, similarity, signal })
  return { number_value: Math.round(value * 1e4) / 1e4 }
}

const askJudge = (
  work: Work,
  price: Price,
  habits: JudgeHabits,
  metric: Metric,
  answer: AnswerRecord,
  spent: Pick<ScoreRecord, 'input_tokens' | 'output_tokens' | 'cost_usd'>,
): Promise<Verdict> => {
  const { run } = work
  const { judge: model } = run
  if (!model) throw new Error(`${metric.metric_name} needs a judge, and the run has none.`)
  return judge(
    {
      ask: async (request) => {
        const given = await callModel(work, model.name, price, request)
        spent.input_tokens += given.tokens.input
        spent.output_tokens += given.tokens.output
        spent.cost_usd += given.cost_usd
        return given
      },
      habits,
      samples: run.limits.judge_samples,
      threshold: thresholdOf(metric, run.star),
    },
    metric,
    { ...answer, output: answer.output ?? '' },
  )
}
