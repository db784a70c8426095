import { ApiError, messageOf } from '#core/error.ts'
import { type DatasetRow, datasetRows } from '../evaluation-datasets/rows.ts'
import { type AnswerRecord, answerKey, answerRecords, stageOf } from '../evaluation-runs/record.ts'
import { callDeadline, callModel, type Work } from './bench.ts'
import { CapReached, type Price } from './budget.ts'
import { requestOf, targetOf } from './candidate.ts'
import { patiently } from './patience.ts'
import { askPlainHttp } from './plain-http.ts'
import { createPool } from './pool.ts'
import { createPatienceMeter } from './stop.ts'

/** The first phase: every row of the dataset goes to the candidate, once. */
export const answerRows = async (work: Work, price: Price): Promise<void> => {
  const { run, objects, store, signal } = work
  const answers = store.collection(answerRecords)
  const pool = createPool(run.limits.max_parallel)
  const meter = createPatienceMeter(run.candidate.name)
  /** Rows that were answered before a restart, as far as they are not met yet. */
  let known = await answers.count({ run: run.uuid })

  await pool.until(async () => {
    const bytes = objects.read(run.dataset.object_key)
    for await (const rows of datasetRows(bytes, run.dataset.file_name, run.kind)) {
      for (const some of inGroups(rows, 200)) {
        const keys = some.map(({ index }) => answerKey(run.uuid, index))
        const done = known > 0 ? await answers.list({ where: { key: keys } }) : []
        known -= done.length
        const seen = new Set(done.map(({ index }) => index))
        for (const row of some) {
          if (seen.has(row.index)) continue
          signal.throwIfAborted()
          await pool.add(() => answerRow(work, price, row, meter))
        }
      }
    }
  })
}

const answerRow = async (
  work: Work,
  price: Price,
  row: DatasetRow,
  meter: ReturnType<typeof createPatienceMeter>,
) => {
  const { run, signal, commit } = work
  const record: Omit<AnswerRecord, 'stage'> = {
    key: answerKey(run.uuid, row.index),
    run: run.uuid,
    index: row.index,
    input: row.input,
    ...(row.ground_truth !== undefined && { ground_truth: row.ground_truth }),
    input_tokens: 0,
    output_tokens: 0,
    cost_usd: 0,
    latency_ms: 0,
  }
  const save = (more: Partial<AnswerRecord>, stage: 'answered' | 'failed') =>
    commit((tx) =>
      tx.collection(answerRecords).put({
        ...record,
        ...more,
        stage: stageOf(run.uuid, stage),
      }),
    )
  let answer: Partial<AnswerRecord>
  try {
    answer = await ask(work, price, row.input)
  } catch (error) {
    if (signal.aborted || error instanceof CapReached) throw error
    await save({ error: messageOf(error) }, 'failed')
    if (isRowsFault(error)) return
    return meter.failed(error)
  }
  await save(answer, 'answered')
  meter.succeeded()
}

/** A row that a model refuses says nothing about the next one. */
const isRowsFault = (error: unknown): boolean =>
  error instanceof ApiError && [400, 413, 422].includes(error.status)

const ask = async (work: Work, price: Price, input: string): Promise<Partial<AnswerRecord>> => {
  const { run, clock, signal, env } = work
  const { candidate } = run
  if (candidate.kind === 'deployment' && candidate.protocol === 'http') {
    const key = candidate.api_key_env && env[candidate.api_key_env]
    const limiter = work.limiter(candidate.url)
    return patiently({ clock, limiter, signal }, async () => {
      const started = clock.now()
      const limit = AbortSignal.any([signal, AbortSignal.timeout(callDeadline)])
      const agent = { url: candidate.url, key }
      const { text, chunks } = await askPlainHttp(work.fetch, agent, input, limit)
      const latency_ms = clock.now() - started
      return { output: text, model: candidate.name, latency_ms, ...(chunks && { chunks }) }
    })
  }
  const answer = await callModel(work, targetOf(candidate), price, requestOf(run, input))
  return {
    output: answer.text,
    model: answer.model,
    ...(answer.task !== '' && { task: answer.task }),
    input_tokens: answer.tokens.input,
    output_tokens: answer.tokens.output,
    cost_usd: answer.cost_usd,
    latency_ms: answer.ms,
    ...(answer.reused && { reused: true }),
  }
}

function* inGroups<T>(items: readonly T[], size: number) {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}
