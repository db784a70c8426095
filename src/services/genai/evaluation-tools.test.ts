import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCalls } from '#mcp/calls.ts'
import { openPublicApi } from '../../../test/public-api.ts'
import { allTools, catalogue } from '../catalogue.ts'

const publicApi = openPublicApi()

type Answer = unknown | ((body: unknown, times: number) => unknown)

/** The real cloud as the tools see it: it notes what it is asked and refuses what is not of its API. */
const cloud = (answers: Record<string, Answer> = {}) => {
  const asked: string[] = []
  const bodies: Record<string, unknown> = {}
  const bearers: (string | null)[] = []
  const all: Record<string, Answer> = { ...usual, ...answers }
  const told: string[] = []
  const calls = createCalls((name) => allTools[name], {
    baseUrl: 'https://api.example',
    fetch: async (request) => {
      const { pathname, search, host } = new URL(request.url)
      const text = await request.text()
      const what = `${request.method} ${host === 'api.example' ? '' : host}${pathname}`
      asked.push(`${what}${search}`.replaceAll('/v2/gen-ai', ''))
      bearers.push(request.headers.get('authorization'))
      const body = host === 'api.example' && text !== '' ? JSON.parse(text) : text
      bodies[what.replaceAll('/v2/gen-ai', '')] = body
      if (host === 'api.example') {
        const fault = publicApi?.requestFault(request.method, request.url, text)
        if (fault) throw new Error(fault)
      }
      const key = what.replaceAll('/v2/gen-ai', '')
      const times = asked.filter((one) => one.startsWith(key)).length
      const answer = all[key]
      const given = typeof answer === 'function' ? answer(body, times) : answer
      if (given instanceof Response) return given
      return given === undefined
        ? Response.json({ id: 'not_found', message: `no ${key}` }, { status: 404 })
        : Response.json(given)
    },
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: Date.now,
  })
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await calls(name, args, {
      token: 'secret',
      who: 'test',
      signal: new AbortController().signal,
      progress: (done, total, message) => told.push(`${done}/${total} ${message}`),
    })
    const text = result.content[0]?.text ?? ''
    return {
      failed: result.isError === true,
      value: result.structuredContent ?? (text.startsWith('{') ? JSON.parse(text) : { text }),
    }
  }
  return { asked, bodies, bearers, told, call }
}

const refused = (status: number, message: string) =>
  Response.json({ id: 'server_error', message, request_id: 'r-1' }, { status })

const metric = {
  metric_uuid: 'm1',
  metric_name: 'Correctness',
  category: 'METRIC_CATEGORY_CORRECTNESS',
  metric_type: 'METRIC_TYPE_GENERAL_QUALITY',
}
const safety = { ...metric, metric_uuid: 'm2', category: 'METRIC_CATEGORY_SAFETY_AND_SECURITY' }
const dataset = {
  dataset_uuid: 'd1',
  dataset_name: 'qa',
  file_size: '400',
  row_count: 10,
  has_ground_truth: true,
}
const upload = {
  request_id: 'r',
  uploads: [{ object_key: 'k/1', presigned_url: 'https://bucket.example/put?sig=1' }],
}
const price = { input_price_per_million: 1, output_price_per_million: 2 }
const models = [
  { uuid: 'u-small', id: 'acme-small', name: 'Acme Small', pricing: price },
  { uuid: 'u-large', id: 'acme-large', name: 'Acme Large', pricing: price },
]
const agentRun = (status: string, more = {}) => ({
  evaluation_run: {
    evaluation_run_uuid: 'run1',
    status,
    agent_deployment_name: 'bot',
    run_level_metric_results: [
      { metric_name: 'Correctness', number_value: 81.5, reasoning: 'fine', status: 'x' },
    ],
    ...more,
  },
})
const modelRun = (status: string, more = {}) => ({
  run: {
    eval_run_uuid: 'e1',
    status: `MODEL_EVALUATION_RUN_${status}`,
    progress: { total_rows: 2, candidate_rows_evaluated: 2, judge_rows_evaluated: 1 },
    result_summary: {
      metric_summaries: [{ metric_uuid: 'm1', metric_name: 'Correctness', pass_percent: 50 }],
    },
    ...more,
  },
  results: [],
})

const usual: Record<string, Answer> = {
  'GET /evaluation_metrics': { metrics: [metric, safety] },
  'GET /model_evaluation_metrics': { metrics: [metric, safety] },
  'GET /evaluation_test_cases': { evaluation_test_cases: [] },
  'POST /evaluation_datasets/file_upload_presigned_urls': upload,
  'POST /model_evaluation/datasets/file_upload_presigned_urls': upload,
  'PUT bucket.example/put': {},
  'POST /evaluation_datasets': { evaluation_dataset_uuid: 'd1' },
  'DELETE /evaluation_datasets/d1': {},
  'GET /evaluation_datasets': { evaluation_datasets: [dataset] },
  'POST /evaluation_test_cases': { test_case_uuid: 't1' },
  'PUT /evaluation_test_cases/t1': { test_case_uuid: 't1', version: 2 },
  'POST /evaluation_runs': { evaluation_run_uuids: ['run1'] },
  'GET /evaluation_runs/run1': agentRun('EVALUATION_RUN_SUCCESSFUL'),
  'GET /custom_models': { models: [] },
  'GET /models': { models, meta: { page: 1, pages: 1, total: 2 } },
  'GET /models/routers': { model_routers: [{ uuid: 'u-r', name: 'helpdesk' }] },
  'POST /model_evaluation_runs': { eval_run_uuid: 'e1' },
  'GET /model_evaluation_runs': { runs: [], available_statuses: [], meta: { total: 0 } },
  'GET /model_evaluation_runs/e1': modelRun('SUCCESSFUL'),
  'GET /model_evaluation_runs/e1/results/download_url': {
    download_url: 'https://x',
    expires_at: 'z',
  },
  'PUT /model_evaluation_runs/e1/cancel': { run: { eval_run_uuid: 'e1' } },
  'DELETE /model_evaluation_runs/e1': { status: 'DELETE_MODEL_EVALUATION_RUN_STATUS_SUCCESS' },
  'DELETE /model_evaluation_presets/p1': {},
}

const folder = mkdtempSync(join(tmpdir(), 'cove-evaluations-'))
const file = (name: string, text: string | Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const queries = file('queries.csv', 'query,ground_truth\n"{""question"": ""1+1?""}",2\n')
const inputs = file('inputs.jsonl', '{"input":"1+1?","ground_truth":"2"}\n{"input":"2+2?"}\n')

test('the service has its twenty tools', () => {
  expect(Object.keys(catalogue['genai-evaluation'] ?? {})).toHaveLength(20)
})

const requests: [tool: string, args: Record<string, unknown>, sent: string, result: object][] = [
  ['genai-list-evaluation-metrics', {}, 'GET /evaluation_metrics', { count: 2 }],
  ['genai-model-eval-list-metrics', {}, 'GET /model_evaluation_metrics', { count: 2 }],
  [
    'genai-list-evaluation-test-cases',
    { agent_workspace_name: 'help' },
    'GET /evaluation_test_cases?agent_workspace_name=help',
    { test_cases: [], count: 0 },
  ],
  [
    'genai-create-evaluation-test-case',
    { name: 'a', dataset_uuid: 'd1', metrics: ['m1'], workspace_uuid: 'w' },
    'POST /evaluation_test_cases',
    { test_case_uuid: 't1', name: 'a', dataset_uuid: 'd1' },
  ],
  [
    'genai-update-evaluation-test-case',
    { test_case_uuid: 't1', metrics: ['m2'] },
    'PUT /evaluation_test_cases/t1',
    { test_case_uuid: 't1', version: 2 },
  ],
  [
    'genai-run-evaluation-test-case',
    { test_case_uuid: 't1', agent_deployment_names: ['bot'], run_name: 'r' },
    'POST /evaluation_runs',
    { evaluation_run_uuids: ['run1'], count: 1 },
  ],
  [
    'genai-get-evaluation-run',
    { evaluation_run_uuid: 'run1' },
    'GET /evaluation_runs/run1',
    { evaluation_run: { evaluation_run_uuid: 'run1' } },
  ],
  [
    'genai-model-eval-list-datasets',
    {},
    'GET /evaluation_datasets?dataset_type=EVALUATION_DATASET_TYPE_MODEL',
    { datasets: [dataset], count: 1 },
  ],
  [
    'genai-model-eval-list-datasets',
    { dataset_type: 'adk' },
    'GET /evaluation_datasets?dataset_type=EVALUATION_DATASET_TYPE_ADK',
    { count: 1 },
  ],
  ...['RUNNING_DATASET', 'MODEL_EVALUATION_RUN_RUNNING_DATASET'].map(
    (status): [string, Record<string, unknown>, string, object] => [
      'genai-model-eval-list-runs',
      { status, page: 2, per_page: '5' },
      'GET /model_evaluation_runs?page=2&per_page=5&status=MODEL_EVALUATION_RUN_RUNNING_DATASET',
      { runs: [], count: 0 },
    ],
  ),
  [
    'genai-model-eval-get-run',
    { eval_run_uuid: 'e1', page: 3 },
    'GET /model_evaluation_runs/e1?page=3',
    { run: { eval_run_uuid: 'e1' }, results: [] },
  ],
  [
    'genai-model-eval-get-results-download-url',
    { eval_run_uuid: 'e1' },
    'GET /model_evaluation_runs/e1/results/download_url',
    { download_url: 'https://x', expires_at: 'z' },
  ],
  [
    'genai-model-eval-cancel-run',
    { eval_run_uuid: 'e1', confirm_cancel: true },
    'PUT /model_evaluation_runs/e1/cancel',
    { run: { eval_run_uuid: 'e1' } },
  ],
  [
    'genai-model-eval-delete-run',
    { eval_run_uuid: 'e1', confirm_deletion: true },
    'DELETE /model_evaluation_runs/e1',
    { status: 'DELETE_MODEL_EVALUATION_RUN_STATUS_SUCCESS' },
  ],
  [
    'genai-model-eval-delete-preset',
    { eval_preset_uuid: 'p1', confirm_deletion: 'true' },
    'DELETE /model_evaluation_presets/p1',
    { eval_preset_uuid: 'p1', status: 'deleted' },
  ],
  [
    'genai-model-eval-delete-dataset',
    { dataset_uuid: 'd1', confirm_deletion: true },
    'DELETE /evaluation_datasets/d1',
    { dataset_uuid: 'd1', status: 'deleted' },
  ],
]

test.each(requests)('%s %o sends %s', async (tool, args, sent, result) => {
  const { call, asked } = cloud()
  const { failed, value } = await call(tool, args)
  expect(failed, JSON.stringify(value)).toBe(false)
  expect(asked).toEqual([sent])
  expect(value).toMatchObject(result)
})

test.each(requests)('%s %o says what it could not do', async (tool, args, sent) => {
  const [key = ''] = sent.split('?')
  const { call } = cloud({ [key]: () => refused(422, 'no way') })
  const { failed, value } = await call(tool, args)
  expect(failed).toBe(true)
  expect(value.error).toMatch(
    /^failed to [a-z ]+(URL)?: no way \(HTTP 422 server_error, request r-1\)$/,
  )
})

test('a dataset is checked, presigned, sent without the token and registered', async () => {
  const agents = cloud()
  const made = await agents.call('genai-create-evaluation-dataset', {
    name: 'qa',
    file_path: queries,
  })
  expect(made.value).toEqual({ dataset_uuid: 'd1', name: 'qa', file_size: 48 })
  expect(agents.asked).toEqual([
    'POST /evaluation_datasets/file_upload_presigned_urls',
    'PUT bucket.example/put?sig=1',
    'POST /evaluation_datasets',
  ])
  expect(agents.bearers).toEqual(['Bearer secret', null, 'Bearer secret'])
  expect(agents.bodies['PUT bucket.example/put']).toContain('1+1?')

  const forModels = cloud()
  const second = await forModels.call('genai-model-eval-create-dataset', {
    name: 'qa',
    file_path: inputs,
  })
  expect(second.value).toEqual({
    evaluation_dataset_uuid: 'd1',
    dataset_uuid: 'd1',
    object_key: 'k/1',
    name: 'qa',
    file_name: 'inputs.jsonl',
    file_size: 53,
  })
  expect(forModels.asked[0]).toBe('POST /model_evaluation/datasets/file_upload_presigned_urls')
  expect(forModels.bodies['POST /evaluation_datasets']).toMatchObject({
    dataset_type: 'EVALUATION_DATASET_TYPE_MODEL',
    file_upload_dataset: { stored_object_key: 'k/1', size_in_bytes: '53' },
  })
})

test.each([
  [
    'an upload that is refused',
    { 'PUT bucket.example/put': () => new Response('expired', { status: 403 }) },
    'expired',
  ],
  [
    'a presigning that fails',
    { 'POST /evaluation_datasets/file_upload_presigned_urls': () => refused(500, 'down') },
    'down',
  ],
  [
    'a registration that fails',
    { 'POST /evaluation_datasets': () => refused(422, 'bad file') },
    'bad file',
  ],
])('%s is told', async (_what, answers, cause) => {
  const { call } = cloud(answers)
  const args = { name: 'qa', file_path: queries }
  const { failed, value } = await call('genai-create-evaluation-dataset', args)
  expect(failed).toBe(true)
  expect(value.error).toMatch(/^failed to create evaluation dataset: /)
  expect(value.error).toContain(cause)
})

const invalidFiles: [use: 'agent' | 'model', name: string, text: string | Buffer, says: string][] =
  [
    ['agent', 'a.txt', 'query\n{}', 'a.txt must be a .csv file, not .txt'],
    ['agent', 'a.jsonl', '{"query":{}}', 'a.jsonl must be a .csv file, not .jsonl'],
    [
      'agent',
      'noextension',
      'query\n{}',
      'noextension must be a .csv file; its name has no extension',
    ],
    ['agent', 'empty.csv', '', 'empty.csv is empty'],
    ['agent', 'blank.csv', '\n\n', 'blank.csv is empty'],
    ['agent', 'header.csv', 'query\n', 'header.csv has a header and no rows'],
    [
      'agent',
      'other.csv',
      'question\n{}\n',
      'row 1 has no column named query; its columns are "question"',
    ],
    ['agent', 'case.csv', 'Query\n{}\n', '("Query" is spelled differently)'],
    ['agent', 'twice.csv', 'query,a,a\n{},1,2\n', 'row 1 has the column "a" twice'],
    ['agent', 'json.csv', 'query\n{}\nhello\n', 'json.csv: row 3, column query is not valid JSON'],
    [
      'agent',
      'list.csv',
      'query\n[1]\n',
      'row 2, column query is a JSON list. It must be a JSON object',
    ],
    ['agent', 'null.csv', 'query\nnull\n', 'row 2, column query is null'],
    ['agent', 'novalue.csv', 'a,query\n1,\n', 'row 2, column query is empty'],
    [
      'agent',
      'wide.csv',
      'query\n{"a":1,"b":2}\n',
      'row 2, column 2 has text after its closing quote',
    ],
    [
      'agent',
      'open.csv',
      'query\n"{}\n',
      'row 2, column query has an opening quote that is never closed',
    ],
    [
      'agent',
      'after.csv',
      'query\n"{}"x\n',
      'row 2, column query has text after its closing quote',
    ],
    ['agent', 'bytes.csv', Buffer.from([0xff, 0xfe, 0x41, 0x00]), 'bytes.csv is not text in UTF-8'],
    ['model', 'm.json', '[]', 'm.json must be a .csv or .jsonl file, not .json'],
    ['model', 'm.csv', 'query\n{}\n', 'row 1 has no column named input'],
    ['model', 'mempty.csv', 'input,ground_truth\n ,2\n', 'row 2, column input is empty'],
    ['model', 'm1.jsonl', '{"input":"a"}\n{"in\n', 'm1.jsonl: row 2 is not valid JSON'],
    [
      'model',
      'm2.jsonl',
      '{"input":"a"}\n\n"x"\n',
      'row 3 is a JSON string. Each line must be one JSON object',
    ],
    ['model', 'm3.jsonl', '{"question":"a"}\n', 'row 1 has no field input'],
    ['model', 'm4.jsonl', '{"input":""}\n', 'row 1, field input is empty'],
  ]

test.each(invalidFiles)(
  'an invalid %s dataset %s is refused before anything is sent',
  async (use, name, text, says) => {
    const { call, asked } = cloud()
    const tool =
      use === 'agent' ? 'genai-create-evaluation-dataset' : 'genai-model-eval-create-dataset'
    const { failed, value } = await call(tool, { name: 'x', file_path: file(name, text) })
    expect(failed).toBe(true)
    expect(value.error).toContain(says)
    expect(asked).toEqual([])
  },
)

test('a file that is not there or is a folder is refused', async () => {
  const { call } = cloud()
  const tool = 'genai-create-evaluation-dataset'
  const missing = await call(tool, { name: 'x', file_path: join(folder, 'none.csv') })
  expect(missing.value.error).toContain('cannot be read: there is no such file')
})

test.each([
  [
    'genai-list-evaluation-test-cases',
    {},
    'at least one of workspace_uuid or agent_workspace_name is required',
  ],
  [
    'genai-create-evaluation-test-case',
    { name: 'a', dataset_uuid: 'd' },
    'at least one of workspace_uuid or agent_workspace_name',
  ],
  [
    'genai-run-evaluation-test-case',
    { test_case_uuid: 't', agent_deployment_names: [], run_name: 'r' },
    'agent_deployment_names must name at least one',
  ],
  [
    'genai-model-eval-delete-run',
    { eval_run_uuid: 'e1', confirm_deletion: false },
    'confirm_deletion must be true',
  ],
  [
    'genai-model-eval-delete-preset',
    { eval_preset_uuid: 'p1', confirm_deletion: false },
    'confirm_deletion must be true',
  ],
  [
    'genai-model-eval-delete-dataset',
    { dataset_uuid: 'd1', confirm_deletion: false },
    'confirm_deletion must be true',
  ],
  [
    'genai-model-eval-cancel-run',
    { eval_run_uuid: 'e1', confirm_cancel: false },
    'confirm_cancel must be true',
  ],
  ['genai-model-eval-list-runs', { status: 'DONE' }, 'status must be one of QUEUED'],
  [
    'genai-model-eval-create-run',
    { name: 'a', candidate_model_name: 'acme-small', judge_model_name: 'j' },
    'dataset_uuid is required without eval_preset_uuid',
  ],
  [
    'genai-model-eval-create-run',
    { name: 'a', candidate_model_name: 'acme-small', dataset_uuid: 'd1' },
    'judge_model_name is required without eval_preset_uuid',
  ],
])('%s %o is refused before anything is sent', async (tool, args, says) => {
  const { call, asked } = cloud()
  const { failed, value } = await call(tool, args)
  expect(failed).toBe(true)
  expect(value.error ?? value.text).toContain(says)
  expect(asked).toEqual([])
})

const evaluateAgents = {
  dataset_file_path: queries,
  workspace_name: 'help',
  test_case_name: 'quality',
  agent_deployment_names: ['bot'],
  run_name: 'nightly',
  poll_interval_seconds: 0.05,
}

test('the agent workflow goes through its steps in order and returns its fields', async () => {
  const states = [
    'QUEUED',
    'RUNNING',
    'RUNNING_DATASET',
    'EVALUATING_RESULTS',
    'PARTIALLY_SUCCESSFUL',
  ]
  const { call, asked, bodies, told } = cloud({
    'GET /evaluation_runs/run1': (_body: unknown, times: number) =>
      agentRun(`EVALUATION_RUN_${states[times - 1]}`),
  })
  const { value } = await call('genai-run-evaluation-workflow', {
    ...evaluateAgents,
    metric_categories: ['CORRECTNESS'],
  })
  expect(asked.slice(0, 7)).toEqual([
    'GET /evaluation_metrics',
    'POST /evaluation_datasets/file_upload_presigned_urls',
    'PUT bucket.example/put?sig=1',
    'POST /evaluation_datasets',
    'GET /evaluation_test_cases?agent_workspace_name=help',
    'POST /evaluation_test_cases',
    'POST /evaluation_runs',
  ])
  expect(bodies['POST /evaluation_datasets']).toMatchObject({ name: 'quality_dataset' })
  expect(bodies['POST /evaluation_test_cases']).toMatchObject({ metrics: ['m1'] })
  expect(value).toEqual({
    dataset_uuid: 'd1',
    test_case_uuid: 't1',
    evaluation_run_uuid: 'run1',
    status: 'EVALUATION_RUN_PARTIALLY_SUCCESSFUL',
    metric_results: [{ metric_name: 'Correctness', number_value: 81.5, reasoning: 'fine' }],
    duration_seconds: expect.any(Number),
    error_message: null,
  })
  expect(told).toContain('2/3 bot: EVALUATION_RUN_EVALUATING_RESULTS')
})

test('a test case of that name is updated, and a failed run tells why', async () => {
  const { call, asked } = cloud({
    'GET /evaluation_test_cases': {
      evaluation_test_cases: [{ name: 'quality', test_case_uuid: 't1' }],
    },
    'GET /evaluation_runs/run1': agentRun('EVALUATION_RUN_FAILED', {
      error_description: 'agent down',
    }),
  })
  const { value } = await call('genai-run-evaluation-workflow', evaluateAgents)
  expect(asked).toContain('PUT /evaluation_test_cases/t1')
  expect(value).toMatchObject({ status: 'EVALUATION_RUN_FAILED', error_message: 'agent down' })
})

test.each([
  [
    1,
    {},
    { dataset_file_path: file('w.csv', 'query\nx\n') },
    'row 2, column query is not valid JSON',
  ],
  [2, { 'GET /evaluation_metrics': () => refused(422, 'no') }, {}, 'no'],
  [
    2,
    {},
    { metric_categories: ['MODEL_FIT'] },
    'no metric is of the category METRIC_CATEGORY_MODEL_FIT',
  ],
  [3, { 'POST /evaluation_datasets': () => refused(422, 'no') }, {}, 'no'],
  [4, { 'POST /evaluation_test_cases': () => refused(422, 'no') }, {}, 'no'],
  [5, { 'POST /evaluation_runs': () => refused(422, 'no') }, {}, 'no'],
  [6, { 'GET /evaluation_runs/run1': () => refused(404, 'no') }, {}, 'no'],
])('a failure in step %i of the agent workflow says so', async (step, answers, args, cause) => {
  const { call, asked } = cloud(answers)
  const { failed, value } = await call('genai-run-evaluation-workflow', {
    ...evaluateAgents,
    ...args,
  })
  expect(failed).toBe(true)
  expect(value.error).toMatch(new RegExp(`^step ${step}: `))
  expect(value.error).toContain(cause)
  // What was uploaded for nothing is removed again.
  expect(asked.includes('DELETE /evaluation_datasets/d1')).toBe(step === 4)
})

test('polling that takes too long is a timeout of step 6, with the ids of what exists', async () => {
  const { call } = cloud({ 'GET /evaluation_runs/run1': agentRun('EVALUATION_RUN_QUEUED') })
  const { failed, value } = await call('genai-run-evaluation-workflow', {
    ...evaluateAgents,
    timeout_seconds: 1,
  })
  expect(failed).toBe(true)
  expect(value).toEqual({
    error: 'step 6: evaluation polling timed out',
    dataset_uuid: 'd1',
    test_case_uuid: 't1',
    evaluation_run_uuid: 'run1',
  })
})

const evaluateModel = {
  dataset_file_path: inputs,
  name: 'compare',
  candidate_model_name: 'acme-small',
  judge_model_name: 'Acme Large',
  poll_interval_seconds: 0.05,
}
const startRun = {
  name: 'compare',
  candidate_model_name: 'acme-small',
  judge_model_name: 'acme-large',
  dataset_uuid: 'd1',
}
const writes = (asked: string[]) => asked.filter((one) => !one.startsWith('GET'))

test.each([
  ['genai-model-eval-create-run', startRun, 10],
  ['genai-model-eval-run-workflow', evaluateModel, 2],
])('%s shows a preview first and creates nothing', async (tool, args, rows) => {
  const { call, asked } = cloud()
  const { value } = await call(tool, args)
  expect(value).toMatchObject({
    status: 'consent_required',
    candidate_model: { uuid: 'u-small', api_name: 'acme-small' },
    judge_model: { uuid: 'u-large', display_name: 'Acme Large' },
    estimate: { candidate_calls: rows, judge_calls: rows * 2, total_calls: rows * 3 },
  })
  expect(value.prompt_for_user).toMatch(/Acme Small.*Acme Large.*model calls.*\$.*Reply "yes"/s)
  expect(writes(asked)).toEqual([])

  for (const user_message of [
    'no',
    'not yet',
    'yes, but not now',
    'hmm',
    'What does it cost?',
    ' ',
  ]) {
    const again = await call(tool, { ...args, user_message })
    expect(again.value.prompt_for_user, user_message).toContain('Start the model evaluation')
  }
  expect(writes(asked)).toEqual([])
})

test.each(['yes', 'Yes!', 'y', 'yes please', 'OK', 'go ahead', 'ja', 'Sí'])(
  'the reply %s starts the run',
  async (user_message) => {
    const { call, bodies } = cloud()
    const { value } = await call('genai-model-eval-create-run', {
      ...startRun,
      user_message,
      metric_uuids: ['m2'],
      candidate_inference_config: '{"max_tokens": 10, "temperature": 0, "top_p": 0.5}',
    })
    expect(value).toEqual({ eval_run_uuid: 'e1', name: 'compare' })
    expect(bodies['POST /model_evaluation_runs']).toMatchObject({
      name: 'compare',
      candidate_model_name: 'acme-small',
      candidate_model_uuid: 'u-small',
      judge_model_uuid: 'u-large',
      dataset_uuid: 'd1',
      metric_uuids: ['m2'],
      candidate_inference_config: { max_tokens: 10, temperature: 0, top_p: 0.5 },
    })
  },
)

test('a preset supplies dataset, judge and metrics', async () => {
  const preset = {
    eval_preset_uuid: 'p1',
    name: 'standard',
    dataset_uuid: 'd1',
    judge_model_uuid: 'u-large',
    metrics: [metric],
  }
  const { call, bodies } = cloud({ 'GET /model_evaluation_presets/p1': { preset } })
  const args = { name: 'again', candidate_model_name: 'acme-small', eval_preset_uuid: 'p1' }
  expect((await call('genai-model-eval-create-run', args)).value.prompt_for_user).toContain('qa')
  await call('genai-model-eval-create-run', { ...args, user_message: 'yes' })
  expect(bodies['POST /model_evaluation_runs']).toEqual({
    name: 'again',
    candidate_model_name: 'acme-small',
    candidate_model_uuid: 'u-small',
    candidate_model_source: 'CANDIDATE_MODEL_SOURCE_SERVERLESS',
    eval_preset_uuid: 'p1',
    source: 'mcp',
  })
})

test('a part of a name returns the matches and creates nothing, even after a yes', async () => {
  const { call, asked } = cloud()
  const { value } = await call('genai-model-eval-create-run', {
    ...startRun,
    candidate_model_name: 'ACME',
    user_message: 'yes',
  })
  expect(value).toMatchObject({
    status: 'model_selection_required',
    candidate: {
      query: 'ACME',
      query_field: 'candidate_model_name',
      matches: [{ api_name: 'acme-small' }, { api_name: 'acme-large' }],
    },
  })
  expect(writes(asked)).toEqual([])
  const none = await call('genai-model-eval-create-run', { ...startRun, judge_model_name: 'zeus' })
  expect(none.value.error).toContain(
    'judge_model_name "zeus" matches no model; known are acme-small',
  )
  const uuid = await call('genai-model-eval-create-run', {
    ...startRun,
    candidate_model_uuid: 'u-large',
  })
  expect(uuid.value.error).toContain('candidate_model_uuid u-large is Acme Large')
})

test('a router is a candidate', async () => {
  const { call, bodies } = cloud()
  await call('genai-model-eval-create-run', {
    ...startRun,
    candidate_model_name: 'router:helpdesk',
    user_message: 'yes',
  })
  expect(bodies['POST /model_evaluation_runs']).toMatchObject({
    candidate_model_name: 'router:helpdesk',
    candidate_model_source: 'CANDIDATE_MODEL_SOURCE_ROUTER',
  })
})

test('the model workflow runs to the end and returns its fields', async () => {
  const states = ['QUEUED', 'RUNNING_DATASET', 'EVALUATING_RESULTS', 'SUCCESSFUL']
  const { call, asked, bodies, told } = cloud({
    'GET /model_evaluation_runs/e1': (_body: unknown, times: number) =>
      modelRun(states[times - 1] ?? ''),
  })
  const { value } = await call('genai-model-eval-run-workflow', {
    ...evaluateModel,
    user_message: 'yes',
  })
  expect(value).toEqual({
    eval_run_uuid: 'e1',
    status: 'MODEL_EVALUATION_RUN_SUCCESSFUL',
    metric_results: [{ metric_name: 'Correctness', number_value: 50 }],
    duration_seconds: expect.any(Number),
    error_message: '',
  })
  expect(writes(asked)).toEqual([
    'POST /model_evaluation/datasets/file_upload_presigned_urls',
    'PUT bucket.example/put?sig=1',
    'POST /evaluation_datasets',
    'POST /model_evaluation_runs',
  ])
  expect(bodies['POST /evaluation_datasets']).toMatchObject({ name: 'compare-dataset' })
  expect(bodies['POST /model_evaluation_runs']).toMatchObject({ metric_uuids: ['m1', 'm2'] })
  expect(told).toContain('3/4 MODEL_EVALUATION_RUN_EVALUATING_RESULTS')
})

test.each([
  [1, {}, { dataset_file_path: file('w.jsonl', 'x\n') }, 'row 1 is not valid JSON'],
  [2, { 'GET /models': () => refused(422, 'no') }, {}, 'no'],
  [3, {}, { metric_uuids: ['m9'] }, 'metric_uuids names no metrics: m9'],
  [4, { 'PUT bucket.example/put': () => new Response('no', { status: 500 }) }, {}, 'no'],
  [5, { 'POST /model_evaluation_runs': () => refused(422, 'no') }, {}, 'no'],
  [6, { 'GET /model_evaluation_runs/e1': () => refused(404, 'no') }, {}, 'no'],
  [
    6,
    { 'GET /model_evaluation_runs/e1': modelRun('CANCELLING') },
    { timeout_seconds: 1 },
    'step 6: evaluation polling timed out',
  ],
])('a failure in step %i of the model workflow says so', async (step, answers, args, cause) => {
  const { call, asked } = cloud(answers)
  const { failed, value } = await call('genai-model-eval-run-workflow', {
    ...evaluateModel,
    ...args,
    user_message: 'yes',
  })
  expect(failed).toBe(true)
  expect(value.error).toMatch(new RegExp(`^step ${step}: `))
  expect(value.error).toContain(cause)
  expect(asked.includes('DELETE /evaluation_datasets/d1')).toBe(step === 5)
})
