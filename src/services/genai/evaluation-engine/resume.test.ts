import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Api, createApi } from '#client/client.ts'
import { completes, said } from '../../../../test/evaluation.ts'
import { newHome, type Running, startCove } from '../../../../test/process.ts'
import { type Received, scriptedUpstream } from '../../../../test/upstream.ts'
import { datasets } from '../evaluation-datasets/contract.ts'
import { metrics } from '../evaluation-metrics/contract.ts'
import { modelEvaluations } from '../model-evaluations/contract.ts'
import { models } from '../models/contract.ts'
import { providers } from '../providers/contract.ts'

const rows = 500
const kills = 20
const parallel = 8
/** ms that an answer takes, and within which it is written down after it was given. */
const latency = 15
const grace = 100

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const running: Running[] = []
afterAll(() => running.at(-1)?.stop())

/** What a call is about: the row, and whether it is answered or judged. */
const keyOf = (received: Received): string => {
  const text = said(received)
  return `${received.body.model} ${/number (\d+)/.exec(text)?.[1]}`
}

test('a run that is killed twenty times ends as one that is not, and pays for nothing twice', async () => {
  const calls = new Map<string, { times: number; at: number }>()
  let received = 0
  const upstream = await scriptedUpstream(async (response, request) => {
    const key = keyOf(request)
    received++
    const call = { times: (calls.get(key)?.times ?? 0) + 1, at: Number.POSITIVE_INFINITY }
    calls.set(key, call)
    await pause(latency)
    call.at = Date.now()
    const [model, row] = key.split(' ')
    const text =
      model === 'teacher'
        ? JSON.stringify({ reasoning: `row ${row}`, score: Number(row) % 101 })
        : `answer ${row}`
    await completes(text)(response, request)
  })
  const home = newHome()
  const start = async (): Promise<Api> => {
    const cove = await startCove(home)
    running.push(cove)
    return createApi({ baseUrl: cove.url, token: cove.token, fetch })
  }
  let api = await start()
  const evaluate = await prepared(api, home, upstream.url)
  const eval_run_uuid = await evaluate(api)

  /** Calls that were under way, or answered a moment ago, when Cove died. */
  const interrupted = new Set<string>()
  const moments = Array.from({ length: kills }, () => 20 + Math.random() * (rows * 2 - 60)).sort(
    (a, b) => a - b,
  )
  for (const moment of moments) {
    const done = () => [...calls.values()].filter(({ at }) => at < Date.now() - grace).length
    while (done() < moment) await pause(5)
    const died = Date.now()
    await running.at(-1)?.kill()
    for (const [key, { at }] of calls) if (at > died - grace) interrupted.add(key)
    api = await start()
  }
  await over(api, eval_run_uuid)

  const repeated = [...calls].filter(([, { times }]) => times > 1)
  for (const [key] of repeated) expect(interrupted, key).toContain(key)
  expect(received - rows * 2).toBeLessThanOrEqual(kills * parallel)
  expect(calls.size).toBe(rows * 2)

  const undisturbed = await evaluate(api)
  await over(api, undisturbed)
  expect(await results(api, eval_run_uuid)).toEqual(await results(api, undisturbed))
  await upstream.close()
}, 150_000)

/** Models, a dataset and metrics; answers a function that starts a run of them. */
const prepared = async (api: Api, home: string, base_url: string) => {
  await api(providers.put, {
    path: { name: 'school' },
    body: { base_url, models: [{ id: 'student' }, { id: 'teacher' }] },
  })
  const text = Array.from({ length: rows }, (_, at) =>
    JSON.stringify({ input: `number ${at}`, ground_truth: `answer ${at}` }),
  ).join('\n')
  const file_name = 'rows.jsonl'
  writeFileSync(join(home, file_name), text)
  const file_size = String(Buffer.byteLength(text))
  const { uploads } = await api(datasets.presignForModels, {
    body: { files: [{ file_name, file_size }] },
  })
  const [upload] = uploads
  await fetch(upload?.presigned_url ?? '', { method: 'PUT', body: text })
  const made = await api(datasets.create, {
    body: {
      name: 'rows',
      dataset_type: 'EVALUATION_DATASET_TYPE_MODEL',
      file_upload_dataset: {
        original_file_name: file_name,
        stored_object_key: upload?.object_key ?? '',
      },
    },
  })
  const known = (await api(models.list, {})).models
  const chosen = (await api(metrics.listForModels, {})).metrics.filter(({ metric_name }) =>
    ['Correctness', 'Exact match'].includes(metric_name),
  )
  return async (now: Api) =>
    (
      await now(modelEvaluations.create, {
        body: {
          name: 'killed',
          candidate_model_name: 'student',
          judge_model_uuid: known.find(({ id }) => id === 'teacher')?.uuid,
          dataset_uuid: made.evaluation_dataset_uuid,
          metric_uuids: chosen.map(({ metric_uuid }) => metric_uuid),
          limits: { max_parallel: parallel },
        },
      })
    ).eval_run_uuid
}

const over = async (api: Api, eval_run_uuid: string) => {
  for (;;) {
    const { run } = await api(modelEvaluations.get, {
      path: { eval_run_uuid },
      query: { per_page: 1 },
    })
    if (run.status === 'MODEL_EVALUATION_RUN_SUCCESSFUL') return
    expect(run.status).not.toMatch(/FAILED|PARTIALLY/)
    await pause(50)
  }
}

const results = async (api: Api, eval_run_uuid: string) => {
  const query = { per_page: 1000 }
  const { results: all } = await api(modelEvaluations.get, { path: { eval_run_uuid }, query })
  return all.map(({ input, output, row, metric_results }) => ({
    input,
    output,
    row,
    metric_results,
  }))
}
