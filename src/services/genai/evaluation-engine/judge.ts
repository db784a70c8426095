import { ApiError } from '#core/error.ts'
import type { Metric, MetricResult } from '../evaluation-metrics/contract.ts'
import type { ChatAnswer, ChatMessage, ChatRequest } from './models.ts'
import { choiceMessages, gradeMessages, type Judged } from './rubric.ts'
import { passes } from './threshold.ts'
import { choiceForm, type Form, gradeForm, readVerdict } from './verdict.ts'

/** Calls the judge model once; retries, limits and costs are the caller's. */
export type AskJudge = (request: ChatRequest) => Promise<ChatAnswer>

/** How the judge is asked for JSON: by schema, as an object, or in words alone. */
const ladder = ['json_schema', 'json_object', 'words'] as const

/** What is learnt about a judge while it is used. */
export interface JudgeHabits {
  rung: number
}

export type Verdict = Pick<
  MetricResult,
  'number_value' | 'reasoning' | 'samples' | 'agreement' | 'string_value'
>

/** Tokens that a verdict may take; models that think aloud need room. */
const longestVerdict = 2048

export interface Bench {
  ask: AskJudge
  habits: JudgeHabits
  /** Judgements of one metric; the median counts. */
  samples: number
  threshold: number
}

/** The judge's view of one metric; throws when there is none, which is never a zero. */
export const judge = (bench: Bench, metric: Metric, judged: Judged): Promise<Verdict> =>
  metric.scoring === 'pairwise' ? compare(bench, judged) : grade(bench, metric, judged)

const grade = async (bench: Bench, metric: Metric, judged: Judged): Promise<Verdict> => {
  const { samples, threshold } = bench
  const grades = await Promise.all(
    Array.from({ length: samples }, (_, at) => {
      // The order in which reference and response are shown is swapped from sample to sample.
      const messages = gradeMessages(metric, judged, gradeForm, at % 2 === 1)
      return verdictOf(bench, messages, gradeForm, at)
    }),
  )
  const scores = grades.map(({ score }) => score)
  const middle = median(scores)
  const reasoning = grades.find(({ score }) => score === middle) ?? grades[0]
  if (samples === 1) return { number_value: middle, reasoning: reasoning?.reasoning ?? '' }
  const passing = scores.filter((score) => passes(score, threshold, metric.inverted)).length
  return {
    number_value: middle,
    reasoning: reasoning?.reasoning ?? '',
    samples: scores,
    agreement: Math.max(passing, samples - passing) / samples,
  }
}

/** Asked in both orders: a preference that turns with the order is none. */
const compare = async (bench: Bench, judged: Judged): Promise<Verdict> => {
  const { ground_truth } = judged
  if (ground_truth === undefined) throw new Error('A comparison needs a reference.')
  const [first, second] = await Promise.all(
    [false, true].map((swapped) =>
      verdictOf(
        bench,
        choiceMessages({ ...judged, ground_truth }, choiceForm, swapped),
        choiceForm,
        0,
      ),
    ),
  )
  const points = (winner: string | undefined, ours: 'a' | 'b') =>
    winner === 'tie' ? 50 : winner === ours ? 100 : 0
  const samples = [points(first?.winner, 'a'), points(second?.winner, 'b')]
  const agree = samples[0] === samples[1]
  return {
    number_value: agree ? (samples[0] ?? 50) : 50,
    string_value: agree ? 'consistent' : 'changes with the order',
    reasoning: first?.reasoning ?? '',
    samples,
    agreement: agree ? 1 : 0.5,
  }
}

/** Asks, reads, and asks once more when the reply cannot be read. */
const verdictOf = async <V>(
  bench: Bench,
  messages: ChatMessage[],
  form: Form<V>,
  sample: number,
): Promise<V> => {
  const temperature = bench.samples > 1 ? 0.5 : 0
  const first = await askForJson(bench, { messages, temperature, seed: sample + 1 }, form)
  const read = readVerdict(first.text, form)
  if ('verdict' in read) return read.verdict
  const repair: ChatMessage[] = [
    ...messages,
    { role: 'assistant', content: first.text.slice(0, 4000) },
    {
      role: 'user',
      content: `That could not be used: ${read.fault}. Reply again with one JSON object and nothing else: ${form.example}`,
    },
  ]
  const second = await askForJson(bench, { messages: repair, temperature: 0 }, form)
  const again = readVerdict(second.text, form)
  if ('verdict' in again) return again.verdict
  throw new ApiError(502, `The judge gave no usable verdict, asked twice: ${again.fault}.`)
}

/** A judge that refuses a way of asking is asked in a plainer one, from then on. */
const askForJson = async (
  { ask, habits }: Bench,
  request: Omit<ChatRequest, 'response_format'>,
  form: Form<unknown>,
): Promise<ChatAnswer> => {
  for (;;) {
    const rung = habits.rung
    try {
      return await ask({ ...request, max_tokens: longestVerdict, ...formatOf(rung, form) })
    } catch (error) {
      const refused = error instanceof ApiError && [400, 422].includes(error.status)
      if (!refused || rung >= ladder.length - 1) throw error
      habits.rung = Math.max(habits.rung, rung + 1)
    }
  }
}

const formatOf = (rung: number, form: Form<unknown>) => {
  switch (ladder[rung]) {
    case 'json_schema':
      return { response_format: { type: 'json_schema', json_schema: form.json } }
    case 'json_object':
      return { response_format: { type: 'json_object' } }
    default:
      return {}
  }
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(half) - 1] ?? 0, sorted[Math.floor(half)] ?? 0]
  return (low + high) / 2
}
