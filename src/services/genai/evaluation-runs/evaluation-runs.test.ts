import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  completes,
  type EvaluationWorld,
  evaluationWorld,
  said,
} from '../../../../test/evaluation.ts'
import { agents } from '../agents/contract.ts'
import { metrics } from '../evaluation-metrics/contract.ts'
import { testCases } from '../evaluation-test-cases/contract.ts'
import { routers } from '../routers/contract.ts'
import { workspaces } from '../workspaces/contract.ts'
import { evaluationRuns } from './contract.ts'

let cove: EvaluationWorld
beforeEach(async () => {
  cove = await evaluationWorld({ env: { BOT_KEY: 'sesame' } })
})
afterEach(() => cove.close())

const queries =
  'query,expected_output\n"{""question"": ""Why?""}",That is right.\n"{""messages"": [{""role"": ""user"", ""content"": ""How?""}]}",\n"{""topic"": ""tls"", ""depth"": 2}",\n'

const deploy = async (name: string, url: string, more: object = {}) => {
  const known = (await cove.api(workspaces.list, {})).workspaces.find((one) => one.name === 'help')
  const workspace =
    known ?? (await cove.api(workspaces.create, { body: { name: 'help' } })).workspace
  const deployment = { name, url, ...more }
  const body = { name, workspace_uuid: workspace.uuid, deployment }
  await cove.api(agents.create, { body })
  return workspace.uuid
}
const evaluate = (names: string[], more: Record<string, unknown> = {}) =>
  cove.tool('genai-run-evaluation-workflow', {
    dataset_file_path: cove.file('queries.csv', queries),
    workspace_name: 'help',
    test_case_name: 'quality',
    agent_deployment_names: names,
    run_name: 'nightly',
    metric_categories: ['USER_OUTCOMES'],
    poll_interval_seconds: 0.05,
    ...more,
  })

test('an agent behind an OpenAI-compatible endpoint is evaluated by one tool', async () => {
  cove.candidate.reply = (response, received) =>
    completes(said(received) === 'How?' ? 'No idea.' : 'That is right.')(response, received)
  await deploy('bot', cove.candidate.url, { model: 'bot-7', api_key_env: 'BOT_KEY' })
  const done = await evaluate(['bot'])
  expect(done).toMatchObject({
    status: 'EVALUATION_RUN_SUCCESSFUL',
    error_message: null,
    duration_seconds: expect.any(Number),
  })
  expect(done.metric_results).toEqual(
    ['Instruction following', 'Completeness', 'Answer relevance'].map((metric_name) => ({
      metric_name,
      number_value: 66.6667,
      reasoning: 'Mean of 3 prompts; 2 pass (at least 70). Worst is prompt 2 with 20: It is not.',
    })),
  )
  const [first] = cove.candidate.received
  expect(first).toMatchObject({ authorization: 'Bearer sesame', body: { model: 'bot-7' } })
  expect(cove.candidate.received.map(said).toSorted()).toEqual([
    'How?',
    'Why?',
    '{"topic": "tls", "depth": 2}',
  ])

  const evaluation_run_uuid = String(done.evaluation_run_uuid)
  expect(await cove.tool('genai-get-evaluation-run', { evaluation_run_uuid })).toMatchObject({
    evaluation_run: {
      run_name: 'nightly',
      agent_deployment_name: 'bot',
      test_case_version: 1,
      pass_status: false,
      star_metric_result: { metric_name: 'Instruction following' },
    },
  })
  const page = await cove.api(evaluationRuns.results, {
    path: { evaluation_run_uuid },
    query: { per_page: 2 },
  })
  expect(page.prompts).toHaveLength(2)
  expect(page.meta).toEqual({ page: 1, pages: 2, total: 3 })
  const { prompt } = await cove.api(evaluationRuns.prompt, {
    path: { evaluation_run_uuid, prompt_id: 2 },
  })
  expect(prompt).toMatchObject({ prompt_id: 2, output: 'No idea.' })

  // The same workflow again makes a second version of the same test case.
  const again = await evaluate(['bot'])
  expect(again.test_case_uuid).toBe(done.test_case_uuid)
  const listed = await cove.tool('genai-list-evaluation-test-cases', {
    agent_workspace_name: 'help',
  })
  expect(listed).toMatchObject({
    count: 1,
    test_cases: [{ version: 2, total_runs: 2, latest_version_number_of_runs: 1 }],
  })
})

test('test cases are made, changed in versions, and run against several deployments', async () => {
  const workspace_uuid = await deploy('bot', cove.candidate.url, { model: 'a' })
  await cove.api(routers.create, { body: { name: 'helpdesk', fallback_models: ['student'] } })
  await deploy('routed', 'router:helpdesk')
  const all = (await cove.tool('genai-list-evaluation-metrics')).metrics as {
    metric_uuid: string
    metric_name: string
  }[]
  const uuid = (name: string) =>
    all.find(({ metric_name }) => metric_name === name)?.metric_uuid ?? ''
  const file_path = cove.file('q.csv', queries)
  const { dataset_uuid } = await cove.tool('genai-create-evaluation-dataset', {
    name: 'q',
    file_path,
  })
  const made = await cove.tool('genai-create-evaluation-test-case', {
    name: 'exact',
    dataset_uuid,
    workspace_uuid,
    metrics: [uuid('Correctness')],
  })
  const test_case_uuid = String(made.test_case_uuid)
  expect(
    await cove.tool('genai-update-evaluation-test-case', {
      test_case_uuid,
      metrics: [uuid('Exact match')],
      description: 'to the letter',
    }),
  ).toEqual({ test_case_uuid, version: 2 })
  const { evaluation_test_case: old } = await cove.api(testCases.get, {
    path: { test_case_uuid },
    query: { evaluation_test_case_version: 1 },
  })
  expect(old.metrics.map(({ metric_name }) => metric_name)).toEqual(['Correctness'])

  const started = await cove.tool('genai-run-evaluation-test-case', {
    test_case_uuid,
    agent_deployment_names: ['bot', 'routed'],
    run_name: 'both',
  })
  expect(started.count).toBe(2)
  for (const evaluation_run_uuid of started.evaluation_run_uuids as string[]) {
    const run = await agentRunOver(evaluation_run_uuid)
    // Two of three prompts have no ground truth: the metric is skipped there, which is no failure.
    expect(run).toMatchObject({
      status: 'EVALUATION_RUN_SUCCESSFUL',
      run_level_metric_results: [{ metric_name: 'Exact match', number_value: 100 }],
    })
  }
  expect(
    await cove.refusal('genai-run-evaluation-test-case', {
      test_case_uuid,
      agent_deployment_names: ['nobody'],
      run_name: 'x',
    }),
  ).toContain('Agent deployment nobody was not found')
  expect(
    await cove.refusal('genai-list-evaluation-test-cases', { agent_workspace_name: 'nowhere' }),
  ).toContain('Workspace nowhere was not found')
})

const agentRunOver = async (evaluation_run_uuid: string) => {
  for (let look = 0; look < 500; look++) {
    const { evaluation_run } = await cove.api(evaluationRuns.get, { path: { evaluation_run_uuid } })
    if (/(SSFUL|FAILED)$/.test(evaluation_run.status)) return evaluation_run
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('The run does not end.')
}

test('an agent behind plain HTTP gives its context, and context metrics judge it', async () => {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const query = JSON.parse(text)
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        answer: `right, ${query.question ?? 'hm'}`,
        context: ['TLS keeps secrets.', { text: 'More.', source: 'rfc' }],
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await deploy('plain', `http://127.0.0.1:${(server.address() as AddressInfo).port}/ask`)
  const done = await evaluate(['plain'], { metric_categories: ['METRIC_CATEGORY_CONTEXT_QUALITY'] })
  expect(done.metric_results).toMatchObject([
    { metric_name: 'Context adherence', number_value: 90 },
    { metric_name: 'Context relevance', number_value: 90 },
  ])
  expect(
    said(cove.judge.received[0] ?? { path: '', authorization: '', body: { messages: [] } }),
  ).toContain('TLS keeps secrets.')
  const evaluation_run_uuid = String(done.evaluation_run_uuid)
  const { prompt } = await cove.api(evaluationRuns.prompt, {
    path: { evaluation_run_uuid, prompt_id: 1 },
  })
  expect(prompt).toMatchObject({
    output: 'right, Why?',
    prompt_chunks: [{ text: 'TLS keeps secrets.' }, { text: 'More.', source_name: 'rfc' }],
  })
  server.close()
})

test('a metric of one’s own is asked in its own words', async () => {
  const { metric } = await cove.api(metrics.create, {
    body: {
      metric_name: 'Politeness',
      config: { scoring_prompt: 'Is the response polite to a king?' },
    },
  })
  const uuid = await cove.start([{ input: 'Who am I?' }], {
    metric_uuids: [metric.metric_uuid],
    save_as_preset: true,
  })
  expect((await cove.over(uuid)).result_summary?.metric_summaries[0]).toMatchObject({
    metric_name: 'Politeness',
    mean: 90,
  })
  expect(
    said(cove.judge.received[0] ?? { path: '', authorization: '', body: { messages: [] } }),
  ).toContain('polite to a king')
  const listed = await cove.tool('genai-model-eval-list-metrics')
  expect((listed.metrics as { metric_name: string }[]).at(-1)).toMatchObject({
    metric_name: 'Politeness',
    source: 'EVALUATION_METRIC_SOURCE_CUSTOM',
    associated_presets: [{ name: 'exam' }],
  })
  const changed = await cove.api(metrics.update, {
    path: { metric_uuid: metric.metric_uuid },
    body: { config: { scoring_prompt: 'Polite?', requires_ground_truth: true } },
  })
  expect(changed.metric.metric_uuid).not.toBe(metric.metric_uuid)
  await cove.api(metrics.delete, { path: { metric_uuid: changed.metric.metric_uuid } })
  expect((await cove.over(uuid)).metrics[0]?.metric_name).toBe('Politeness')
})

test('only an owner may say where a key of this machine is sent', async () => {
  const stranger = await cove.apiWith('genai:create')
  const body = {
    name: 'x',
    deployment: { name: 'x', url: 'http://127.0.0.1:9', api_key_env: 'BOT_KEY' },
  }
  await expect(stranger(agents.create, { body })).rejects.toThrow('inference_provider:update')
  await expect(
    cove.api(agents.create, { body: { name: 'x', deployment: { name: 'x', url: 'ftp://x' } } }),
  ).rejects.toThrow('must be an http or https address')
  await expect(
    cove.api(agents.create, { body: { name: 'x', deployment: { name: 'x', url: 'router:no' } } }),
  ).rejects.toThrow('router no, which does not exist')
})
