import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  completes,
  type EvaluationWorld,
  evaluationWorld,
  fairJudge,
  said,
} from '../../../../test/evaluation.ts'
import { hangs, refuses } from '../../../../test/upstream.ts'
import { datasets } from '../evaluation-datasets/contract.ts'
import { modelEvaluations, presets } from './contract.ts'

let cove: EvaluationWorld
beforeEach(async () => {
  cove = await evaluationWorld()
})
afterEach(() => cove.close())

const questions = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    input: `question ${at}`,
    ground_truth: 'That is right.',
  }))
const results = async (eval_run_uuid: string) =>
  (await cove.api(modelEvaluations.get, { path: { eval_run_uuid }, query: { per_page: 1000 } }))
    .results

test('a model is evaluated from a file to scores, and its results are fetched', async () => {
  cove.candidate.reply = (response, received) =>
    completes(said(received) === 'question 3' ? 'No idea.' : 'That is right.')(response, received)
  const args = {
    dataset_file_path: cove.file(
      'exam.csv',
      'input,ground_truth\r\nquestion 1,That is right.\r\nquestion 2,"That, ""is"" right."\r\nquestion 3,That is right.\r\n',
    ),
    name: 'exam',
    candidate_model_name: 'student',
    judge_model_name: 'teacher',
    metric_uuids: [await cove.metric('Correctness'), await cove.metric('Exact match')],
    candidate_inference_config: {
      max_tokens: 50,
      temperature: 0.2,
      top_p: 0.9,
      system_prompt: 'Be brief.',
    },
    poll_interval_seconds: 0.05,
  }
  const preview = await cove.tool('genai-model-eval-run-workflow', args)
  expect(preview).toMatchObject({
    status: 'consent_required',
    estimate: { candidate_calls: 3, judge_calls: 3 },
  })
  expect(cove.candidate.received).toEqual([])

  const done = await cove.tool('genai-model-eval-run-workflow', { ...args, user_message: 'yes' })
  expect(done).toMatchObject({
    status: 'MODEL_EVALUATION_RUN_SUCCESSFUL',
    metric_results: [
      { metric_name: 'Correctness', number_value: 66.6667 },
      { metric_name: 'Exact match', number_value: 33.3333 },
    ],
    error_message: '',
  })
  expect(cove.candidate.received[0]?.body).toMatchObject({
    model: 'student',
    max_tokens: 50,
    temperature: 0.2,
    top_p: 0.9,
    messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
  })
  expect(cove.judge.received[0]?.body.response_format).toMatchObject({ type: 'json_schema' })

  const eval_run_uuid = String(done.eval_run_uuid)
  const page = await cove.tool('genai-model-eval-get-run', { eval_run_uuid, page: 3, per_page: 1 })
  expect(page).toMatchObject({
    results: [
      {
        input: 'question 3',
        output: 'No idea.',
        metric_results: [{ number_value: 20, reasoning: 'It is not.' }, { number_value: 0 }],
      },
    ],
    meta: { page: 3, pages: 3, total: 3 },
    run: { progress: { total_rows: 3, candidate_rows_evaluated: 3, judge_rows_evaluated: 3 } },
  })
  const { run } = await cove.api(modelEvaluations.get, { path: { eval_run_uuid } })
  expect(run.result_summary).toMatchObject({
    overall_score_percent: 50,
    star_metric_summary: { metric_name: 'Correctness', threshold: 80 },
    pricing: { currency: 'USD', total_cost: expect.closeTo(0.0072) },
    performance_metrics: {
      token_usage: { total_candidate_input_tokens: '300', total_judge_tokens: '330' },
    },
  })

  for (const status of ['SUCCESSFUL', 'MODEL_EVALUATION_RUN_SUCCESSFUL', 'successful']) {
    expect(await cove.tool('genai-model-eval-list-runs', { status })).toMatchObject({ count: 1 })
  }
  expect(await cove.tool('genai-model-eval-list-runs', { status: 'FAILED' })).toMatchObject({
    runs: [],
    count: 0,
  })

  const { download_url } = await cove.tool('genai-model-eval-get-results-download-url', {
    eval_run_uuid,
  })
  const { pathname, search } = new URL(String(download_url))
  const file = await cove.fetch(pathname + search, { headers: { authorization: '' } })
  const all = JSON.parse(gunzipSync(Buffer.from(await file.arrayBuffer())).toString())
  expect(all.results).toEqual(await results(eval_run_uuid))
  expect((await cove.fetch(`${pathname}${search}0`)).status).toBe(403)

  expect(
    await cove.refusal('genai-model-eval-delete-run', { eval_run_uuid, confirm_deletion: false }),
  ).toContain('must be true')
  expect(
    await cove.tool('genai-model-eval-delete-run', { eval_run_uuid, confirm_deletion: true }),
  ).toMatchObject({
    status: 'DELETE_MODEL_EVALUATION_RUN_STATUS_SUCCESS',
  })
  expect(await cove.refusal('genai-model-eval-get-run', { eval_run_uuid })).toContain(
    'was not found',
  )
})

test('a dataset is listed, fetched by an address that expires, and deleted', async () => {
  const file_path = cove.file('q.csv', '\ufeffinput\nWhy?\n')
  const made = await cove.tool('genai-model-eval-create-dataset', { name: 'why', file_path })
  const dataset_uuid = String(made.dataset_uuid)
  expect(await cove.tool('genai-model-eval-list-datasets')).toMatchObject({
    count: 1,
    datasets: [{ dataset_uuid, row_count: 1, has_ground_truth: false, file_size: '14' }],
  })
  expect(
    await cove.tool('genai-model-eval-list-datasets', { dataset_type: 'UNKNOWN' }),
  ).toMatchObject({ count: 0 })
  const { download_url } = await cove.api(datasets.downloadUrl, { path: { dataset_uuid } })
  const address = new URL(download_url).pathname + new URL(download_url).search
  expect(await (await cove.fetch(address)).text()).toBe('input\nWhy?\n')
  cove.clock.advance(2 * 60 * 60_000)
  expect(await (await cove.fetch(address)).json()).toMatchObject({
    message: expect.stringContaining('has expired'),
  })
  await cove.tool('genai-model-eval-delete-dataset', { dataset_uuid, confirm_deletion: true })
  expect(await cove.tool('genai-model-eval-list-datasets')).toMatchObject({ count: 0 })
})

test('an upload must be what was announced, and a dataset what it says', async () => {
  const body = { files: [{ file_name: 'x.csv', file_size: 12 }] }
  const { uploads } = await cove.api(datasets.presignForModels, { body })
  const [upload] = uploads
  const put = (text: string) =>
    cove.fetch(upload?.presigned_url.replace('http://127.0.0.1:8787', '') ?? '', {
      method: 'PUT',
      body: text,
    })
  const register = (
    dataset_type: 'EVALUATION_DATASET_TYPE_MODEL' | 'EVALUATION_DATASET_TYPE_ADK',
  ) =>
    cove.api(datasets.create, {
      body: {
        name: 'x',
        dataset_type,
        file_upload_dataset: {
          original_file_name: 'x.csv',
          stored_object_key: upload?.object_key ?? '',
        },
      },
    })
  await expect(register('EVALUATION_DATASET_TYPE_MODEL')).rejects.toThrow('was not uploaded')
  expect((await put('input\nfar too long\n')).status).toBe(413)
  expect((await put('input\n')).status).toBe(400)
  expect((await put('input\nWhy?\n\n')).status).toBe(200)
  await expect(register('EVALUATION_DATASET_TYPE_ADK')).rejects.toThrow('no column named query')
  await register('EVALUATION_DATASET_TYPE_MODEL')
  await expect(register('EVALUATION_DATASET_TYPE_MODEL')).rejects.toThrow('is a dataset already')
})

test('a storm of rate limits is waited out; no prompt is lost or asked twice', async () => {
  let refused = 0
  let underWay = 0
  cove.candidate.reply = async (response, received) => {
    underWay++
    await new Promise((resolve) => setTimeout(resolve, 5))
    underWay--
    if (underWay > 3) {
      refused++
      return refuses(429, 'slow down', { 'retry-after': '2' })(response, received)
    }
    return completes('That is right.')(response, received)
  }
  const uuid = await cove.start(questions(60))
  expect((await cove.over(uuid)).status).toBe('MODEL_EVALUATION_RUN_SUCCESSFUL')
  expect(refused).toBeGreaterThan(0)
  expect(cove.candidate.received.length - refused).toBe(60)
})

test('a judge that rambles is understood, and one that raves is a failure, never a zero', async () => {
  const replies: Record<string, string> = {
    'question 0': 'Here you are:\n```json\n{"reasoning": "fine", "score": 80}\n```\nBye!',
    'question 1': "{reasoning: 'fine', score: 80,}",
    'question 2': '{"reasoning": "fine", "score": "80"}',
    'question 3': 'I will not judge.',
    'question 4': '{"reasoning": "fine", "score": 8000}',
  }
  cove.judge.reply = (response, received) => {
    const messages = received.body.messages as { content: string }[]
    const asked =
      Object.keys(replies).find((question) => messages[1]?.content.includes(question)) ?? ''
    return completes(replies[asked] ?? '')(response, received)
  }
  const uuid = await cove.start(questions(5))
  const run = await cove.over(uuid)
  expect(run.status).toBe('MODEL_EVALUATION_RUN_PARTIALLY_SUCCESSFUL')
  expect(run.error_description).toContain('2 scores failed')
  const rows = await results(uuid)
  expect(rows.map(({ metric_results }) => metric_results[0]?.number_value)).toEqual([
    80,
    80,
    80,
    undefined,
    undefined,
  ])
  expect(rows[3]?.metric_results[0]).toMatchObject({
    status: 'EVALUATION_METRIC_RESULT_STATUS_FAILED',
    error_description: expect.stringContaining('no usable verdict, asked twice'),
  })
  expect(run.result_summary?.metric_summaries[0]).toMatchObject({
    pass_count: 3,
    fail_count: 2,
    mean: 80,
    scored_count: 3,
  })
  expect(cove.judge.received).toHaveLength(5 + 2)
})

test('a judge that knows no JSON schema is asked in plainer ways', async () => {
  cove.judge.reply = (response, received) =>
    received.body.response_format
      ? refuses(400, 'response_format is not supported')(response, received)
      : fairJudge(response, received)
  const uuid = await cove.start(questions(3))
  expect((await cove.over(uuid)).status).toBe('MODEL_EVALUATION_RUN_SUCCESSFUL')
  expect(cove.judge.received.at(-1)?.body).not.toHaveProperty('response_format')
})

test('a model that is down fails the run with its reason, and soon', async () => {
  await cove.candidate.down()
  const uuid = await cove.start(questions(200))
  const run = await cove.over(uuid)
  expect(run.status).toBe('MODEL_EVALUATION_RUN_FAILED')
  expect(run.error_description).toMatch(
    /student failed \d+ times in a row.*refused the connection/s,
  )
  expect(run.progress.candidate_rows_evaluated).toBeLessThan(60)
})

test('prompts that hang or are refused leave the others alone', async () => {
  cove.candidate.reply = (response, received) => {
    if (said(received) === 'question 1') return hangs(response, received)
    if (said(received) === 'question 2')
      return refuses(400, 'I cannot read this')(response, received)
    return completes('That is right.')(response, received)
  }
  const uuid = await cove.start(questions(6))
  const run = await cove.over(uuid)
  expect(run.status).toBe('MODEL_EVALUATION_RUN_PARTIALLY_SUCCESSFUL')
  const rows = await results(uuid)
  expect(rows).toHaveLength(6)
  expect(rows[2]).toMatchObject({
    error_description: expect.stringContaining('I cannot read this'),
    metric_results: [{ status: 'EVALUATION_METRIC_RESULT_STATUS_SKIPPED' }],
  })
  expect(rows[1]?.output).toBeUndefined()
  expect(rows.filter(({ output }) => output)).toHaveLength(4)
})

test('a run is cancelled within a second, and stays readable', async () => {
  cove.candidate.reply = async (response, received) => {
    await new Promise((resolve) =>
      setTimeout(resolve, Number(said(received).slice(9)) < 8 ? 5 : 60_000),
    )
    return completes('That is right.')(response, received)
  }
  const eval_run_uuid = await cove.start(questions(100))
  await cove.over(eval_run_uuid, ({ progress }) => progress.candidate_rows_evaluated >= 4)
  expect(
    await cove.refusal('genai-model-eval-delete-run', { eval_run_uuid, confirm_deletion: true }),
  ).toContain('cancel it')
  const asked = Date.now()
  const { run } = await cove.tool('genai-model-eval-cancel-run', {
    eval_run_uuid,
    confirm_cancel: true,
  })
  expect(run).toMatchObject({ status: 'MODEL_EVALUATION_RUN_CANCELLING' })
  expect((await cove.over(eval_run_uuid)).status).toBe('MODEL_EVALUATION_RUN_CANCELLED')
  expect(Date.now() - asked).toBeLessThan(1000)
  expect((await results(eval_run_uuid)).length).toBeGreaterThanOrEqual(4)
  expect(
    await cove.refusal('genai-model-eval-cancel-run', { eval_run_uuid, confirm_cancel: true }),
  ).toContain('nothing to cancel')
})

test('a cost cap suspends the run before it is exceeded, and a higher one lets it go on', async () => {
  const tokens = { prompt_tokens: 1000, completion_tokens: 100 }
  cove.candidate.reply = completes('That is right.', tokens)
  // One answer costs 0.012; the most that the next can cost is reserved first.
  const uuid = await cove.start(questions(50), {
    candidate_inference_config: { max_tokens: 100 },
    limits: { max_cost_usd: 0.1, max_parallel: 4 },
  })
  const held = await cove.over(uuid, ({ suspended }) => suspended !== undefined)
  expect(held.error_description).toContain('of the cap of $0.1 only')
  expect(held.status).toBe('MODEL_EVALUATION_RUN_RUNNING_DATASET')
  const first = cove.candidate.received.length
  expect(first).toBeGreaterThan(3)
  expect(first * 0.012).toBeLessThanOrEqual(0.1)
  await cove.api(modelEvaluations.update, {
    path: { eval_run_uuid: uuid },
    body: { max_cost_usd: 5 },
  })
  expect((await cove.over(uuid)).status).toBe('MODEL_EVALUATION_RUN_SUCCESSFUL')
  expect(cove.candidate.received).toHaveLength(50)
})

test('answers of an earlier run are taken again when that is asked for', async () => {
  const limits = { reuse_answers: true }
  await cove.over(await cove.start(questions(5), { limits }))
  const [answered, judged] = [cove.candidate.received.length, cove.judge.received.length]
  const run = await cove.over(await cove.start(questions(6), { limits }))
  expect(run.status).toBe('MODEL_EVALUATION_RUN_SUCCESSFUL')
  expect(cove.candidate.received).toHaveLength(answered + 1)
  expect(cove.judge.received).toHaveLength(judged + 1)
})

test('a judge asked several times is answered by the median, with its agreement', async () => {
  let times = 0
  cove.judge.reply = (response, received) =>
    completes(JSON.stringify({ reasoning: 'so', score: [90, 40, 80][times++ % 3] }))(
      response,
      received,
    )
  const uuid = await cove.start(questions(1), { limits: { judge_samples: 3 } })
  await cove.over(uuid)
  const [row] = await results(uuid)
  expect(row?.metric_results[0]).toMatchObject({ number_value: 80, agreement: 2 / 3 })
  expect(row?.metric_results[0]?.samples?.toSorted()).toEqual([40, 80, 90])
})

test('a comparison with the reference is made in both orders', async () => {
  const preferences: Record<string, (text: string) => string> = {
    alwaysFirst: () => 'A',
    ours: (text) => (/answer A:\n=+\w+=+\nThat is right\./.test(text) ? 'A' : 'B'),
  }
  const metric_uuids = [await cove.metric('Preferred to the reference')]
  for (const [who, value] of [
    ['alwaysFirst', 50],
    ['ours', 100],
  ] as const) {
    cove.judge.reply = (response, received) =>
      completes(JSON.stringify({ reasoning: '', winner: preferences[who]?.(said(received)) }))(
        response,
        received,
      )
    const uuid = await cove.start([{ input: 'Why?', ground_truth: 'Because.' }], { metric_uuids })
    await cove.over(uuid)
    expect((await results(uuid))[0]?.metric_results[0]).toMatchObject({ number_value: value })
  }
})

test('a preset is saved from a run, used by the next, and its deletion changes no run', async () => {
  const first = await cove.start(questions(2), {
    save_as_preset: true,
    preset_name: 'standard',
    candidate_inference_config: { max_tokens: 5 },
    star_metric: { metric_uuid: await cove.metric('Correctness'), success_threshold: 95 },
  })
  await cove.over(first)
  const [preset] = (await cove.api(presets.list, {})).presets
  const eval_preset_uuid = preset?.eval_preset_uuid ?? ''
  expect(preset).toMatchObject({
    name: 'standard',
    dataset_name: 'questions',
    judge_model_name: 'teacher',
  })
  const args = { name: 'again', candidate_model_name: 'student', eval_preset_uuid }
  expect(await cove.tool('genai-model-eval-create-run', args)).toMatchObject({
    status: 'consent_required',
  })
  const made = await cove.tool('genai-model-eval-create-run', { ...args, user_message: 'yes' })
  const second = await cove.over(String(made.eval_run_uuid))
  expect(second).toMatchObject({
    eval_preset_name: 'standard',
    candidate_inference_config: { max_tokens: 5 },
  })
  // The star metric asks for 95, and the judge gives 90.
  expect(second.result_summary?.metric_summaries[0]?.pass_count).toBe(0)
  await cove.tool('genai-model-eval-delete-preset', { eval_preset_uuid, confirm_deletion: true })
  expect((await cove.api(presets.list, {})).presets).toEqual([])
  expect((await cove.over(second.eval_run_uuid)).eval_preset_uuid).toBe(eval_preset_uuid)
})

test('what cannot run is refused, and says why', async () => {
  const dataset = { name: 'x', file_path: cove.file('r.jsonl', '{"input":"a"}') }
  const { dataset_uuid } = await cove.tool('genai-model-eval-create-dataset', dataset)
  const create = (body: object) =>
    cove.api(modelEvaluations.create, {
      body: { name: 'r', dataset_uuid: String(dataset_uuid), ...body },
    })
  const judge_model_uuid = await cove.uuidOf('teacher')
  await expect(create({ candidate_model_name: 'stud', judge_model_uuid })).rejects.toThrow(
    'Candidate model stud was not found',
  )
  await expect(create({ candidate_model_name: 'student' })).rejects.toThrow(
    'judge_model_uuid is required',
  )
  await expect(
    create({ candidate_model_name: 'student', judge_model_uuid, metric_uuids: ['x'] }),
  ).rejects.toThrow('There is no metric x')
  await expect(create({ candidate_model_name: 'router:none', judge_model_uuid })).rejects.toThrow(
    'router:none was not found',
  )
  const computed = [await cove.metric('JSON validity')]
  const { eval_run_uuid } = await create({
    candidate_model_name: 'student',
    metric_uuids: computed,
  })
  expect((await cove.over(eval_run_uuid)).status).toBe('MODEL_EVALUATION_RUN_SUCCESSFUL')
  expect(cove.judge.received).toEqual([])
})
