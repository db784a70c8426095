import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCalls } from '#mcp/calls.ts'
import { allTools } from '#services/catalogue.ts'
import { type World, world } from '../../../../test/world.ts'
import { models } from '../models/contract.ts'
import { type ModelRouter, routers } from './contract.ts'

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

const create = async (args: Record<string, unknown>) =>
  (await cove.tool('genai-inference-router-create', args)).model_router as ModelRouter

const summarize = {
  task_slug: 'summarization',
  models: ['small', 'large'],
  selection_policy: { prefer: 'cheapest' },
}
const refunds = {
  custom_task: { name: 'refunds', description: 'A customer wants money back.' },
  models: ['large'],
}

test('a router is created, read over the API, changed and deleted', async () => {
  const made = await create({
    Name: 'story',
    PoliciesJson: JSON.stringify([summarize, refunds]),
    FallbackModels: ['small'],
  })
  expect(made).toMatchObject({
    name: 'story',
    description: '',
    regions: ['all'],
    config: { policies: [summarize, refunds], fallback_models: ['small'] },
  })
  const uuid = made.uuid
  expect((await cove.api(routers.get, { path: { uuid } })).model_router).toEqual(made)
  expect(await cove.tool('genai-inference-router-get', { UUID: uuid })).toEqual({
    model_router: made,
  })

  cove.clock.advance(1000)
  const { model_router: changed } = (await cove.tool('genai-inference-router-update', {
    UUID: uuid,
    Description: 'for support',
  })) as { model_router: ModelRouter }
  expect(changed).toEqual({ ...made, description: 'for support', updated_at: changed.updated_at })
  expect(Date.parse(changed.updated_at)).toBe(Date.parse(made.updated_at) + 1000)

  const listed = await cove.tool('genai-inference-router-list')
  expect(listed).toMatchObject({ model_routers: [changed], meta: { page: 1, pages: 1, total: 1 } })

  expect(await cove.tool('genai-inference-router-delete', { UUID: uuid })).toEqual({ uuid })
  expect(await cove.refusal('genai-inference-router-get', { UUID: uuid })).toContain(
    `Model router ${uuid} was not found`,
  )
  expect(await cove.refusal('genai-inference-router-delete', { UUID: uuid })).toContain('not found')
})

test('policies may be left out, empty, an empty list, or the list itself', async () => {
  for (const [index, PoliciesJson] of [undefined, '', '  ', '[]', []].entries()) {
    const made = await create({ Name: `none-${index}`, PoliciesJson, FallbackModels: ['m'] })
    expect(made.config.policies).toEqual([])
  }
  const made = await create({
    Name: 'as-list',
    PoliciesJson: [summarize],
    FallbackModels: '["a","b"]',
  })
  expect(made.config).toEqual({ policies: [summarize], fallback_models: ['a', 'b'] })
})

test('an update changes what is given and keeps the rest', async () => {
  const { uuid } = await create({
    Name: 'keep',
    PoliciesJson: JSON.stringify([summarize]),
    FallbackModels: ['a'],
  })
  const update = async (args: Record<string, unknown>) =>
    (await cove.tool('genai-inference-router-update', { UUID: uuid, ...args }))
      .model_router as ModelRouter
  expect((await update({ FallbackModels: ['b', 'c'] })).config).toEqual({
    policies: [summarize],
    fallback_models: ['b', 'c'],
  })
  expect((await update({ Name: 'kept', PoliciesJson: '' })).config.policies).toEqual([summarize])
  expect((await update({ PoliciesJson: '[]' })).config.policies).toEqual([])
  expect((await update({ Description: '' })).description).toBe('')
})

/** Each row: what is sent, and what the person reads. */
const refusedByTools: [string, Record<string, unknown>, string][] = [
  ['create', { Name: 'x' }, 'FallbackModels is required'],
  ['create', { Name: 'x', FallbackModels: [] }, 'FallbackModels must have at least 1 item'],
  ['create', { FallbackModels: ['m'] }, 'Name is required'],
  ['create', bad('{'), 'PoliciesJson must be a JSON array of policies as text'],
  ['create', bad('{"task_slug":"summarization"}'), 'PoliciesJson must be a list'],
  ['create', bad('["summarization"]'), 'PoliciesJson[0] must be an object'],
  ['create', bad('[{"models":["m"],"usecase_class":"x"}]'), 'policy 0 task is required'],
  [
    'create',
    bad(JSON.stringify([summarize, { ...summarize, ...refunds }])),
    'policy 1 must have only one of task_slug and custom_task',
  ],
  ['create', bad('[{"task_slug":"summarization"}]'), 'policy 0 models must have at least one'],
  [
    'create',
    bad(JSON.stringify([{ ...summarize, selection_policy: { prefer: 'best' } }])),
    'policy 0 selection_policy.prefer must be one of none, fastest, cheapest, not "best"',
  ],
  [
    'create',
    bad(JSON.stringify([{ ...refunds, custom_task: { name: 'x', description: ' ' } }])),
    'policy 0 custom_task needs a description',
  ],
  ['update', { UUID: 'u' }, 'Give at least one of Name, Description, PoliciesJson and Fall'],
  ['update', { UUID: 'u', PoliciesJson: ' ' }, 'Give at least one of Name'],
  ['update', { UUID: 'u', PoliciesJson: '"x"' }, 'PoliciesJson must be a list'],
  ['update', { UUID: 'u', FallbackModels: [] }, 'FallbackModels must have at least 1 item'],
  ['list', { PerPage: 1001 }, 'PerPage must be at most 1000'],
  ['list', { Page: 0 }, 'Page must be at least 1'],
  ['task-presets', { PerPage: 1001 }, 'PerPage must be at most 1000'],
  ['get', {}, 'UUID is required'],
]

function bad(PoliciesJson: string) {
  return { Name: 'x', FallbackModels: ['m'], PoliciesJson }
}

test.each(refusedByTools)('%s with %o is refused: %s', async (verb, args, message) => {
  expect(await cove.refusal(`genai-inference-router-${verb}`, args)).toContain(message)
})

/** The same rules hold for callers of the API, whatever client they use. */
const refusedByApi: [Record<string, unknown>, string][] = [
  [{ name: 'x' }, 'fallback_models is required'],
  [{ name: 'x', fallback_models: [] }, 'fallback_models must have at least 1 item'],
  [{ name: 'My Router', fallback_models: ['m'] }, 'name may have only the characters a-z, 0-9'],
  [{ name: 'x'.repeat(256), fallback_models: ['m'] }, 'name must have at most 255 characters'],
  [{ fallback_models: ['m'] }, 'name is required'],
  [
    { name: 'x', fallback_models: ['m'], policies: [{ models: ['m'] }] },
    'policy 0 task is required',
  ],
  [
    { name: 'x', fallback_models: ['m'], policies: [{ ...summarize, task_slug: 'sumarisation' }] },
    'policy 0 task_slug "sumarisation" is not known: did you mean summarization?',
  ],
  [
    { name: 'x', fallback_models: ['m'], policies: [{ ...summarize, task_slug: 'zzz' }] },
    'policy 0 task_slug "zzz" is not known: GET /v2/gen-ai/models/routers/tasks/presets lists',
  ],
]

test.each(refusedByApi)('POST %o answers 400: %s', async (body, message) => {
  const response = await cove.fetch('/v2/gen-ai/models/routers', {
    method: 'POST',
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(400)
  const answer = (await response.json()) as { id: string; message: string }
  expect(answer.id).toBe('bad_request')
  expect(answer.message).toContain(message)
})

test('names are unique', async () => {
  await create({ Name: 'taken', FallbackModels: ['m'] })
  const other = await create({ Name: 'other', FallbackModels: ['m'] })
  const message = 'Model router with name "taken" already exists.'
  const again = { Name: 'taken', FallbackModels: ['m'] }
  expect(await cove.refusal('genai-inference-router-create', again)).toContain(message)
  const rename = { UUID: other.uuid, Name: 'taken' }
  expect(await cove.refusal('genai-inference-router-update', rename)).toContain(message)
})

test('concurrent updates do not lose one another', async () => {
  const { uuid } = await create({ Name: 'busy', FallbackModels: ['m'] })
  await Promise.all([
    cove.api(routers.update, { path: { uuid }, body: { description: 'mine' } }),
    cove.api(routers.update, { path: { uuid }, body: { name: 'busier' } }),
    cove.api(routers.update, { path: { uuid }, body: { policies: [summarize] } }),
    cove.api(routers.update, { path: { uuid }, body: { fallback_models: ['a', 'b'] } }),
  ])
  expect((await cove.api(routers.get, { path: { uuid } })).model_router).toMatchObject({
    name: 'busier',
    description: 'mine',
    config: { policies: [summarize], fallback_models: ['a', 'b'] },
  })
})

test('a token without write access may list and create, and is refused to delete', async () => {
  const limited = await cove.apiWith('genai:read', 'genai:create')
  const { model_router } = await limited(routers.create, {
    body: { name: 'limited', fallback_models: ['m'] },
  })
  expect((await limited(routers.list, {})).model_routers.length).toBeGreaterThan(0)
  await expect(
    limited(routers.delete, { path: { uuid: model_router.uuid } }),
  ).rejects.toMatchObject({
    status: 403,
    message: expect.stringMatching(/not authorized.*genai:delete/),
  })
})

test('a cloud that answers a deletion with nothing is told apart from none', async () => {
  const answered: Request[] = []
  const calls = createCalls((name) => allTools[name], {
    baseUrl: 'https://api.example.com',
    fetch: async (request) => {
      answered.push(request)
      return new Response(null, { status: 204 })
    },
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: Date.now,
  })
  const result = await calls(
    'genai-inference-router-delete',
    { UUID: 'abc' },
    { token: 't', who: 'test', signal: new AbortController().signal, progress: () => {} },
  )
  expect(result.structuredContent).toEqual({ uuid: 'abc' })
  expect(answered.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'DELETE https://api.example.com/v2/gen-ai/models/routers/abc',
  ])
})

test('the built-in tasks come in pages, in four groups', async () => {
  const all = await cove.api(routers.taskPresets, { query: { per_page: 1000 } })
  expect(all.tasks).toHaveLength(23)
  expect(new Set(all.tasks.map(({ category }) => category))).toEqual(
    new Set([
      'General',
      'Writing',
      'Software engineering',
      'Knowledge base and document intelligence',
    ]),
  )
  expect(all.tasks.flatMap((task) => task.models)).toEqual([])
  const second = await cove.tool('genai-inference-router-task-presets', { Page: '2', PerPage: 20 })
  expect(second.tasks).toEqual(all.tasks.slice(20))
  expect(second).toMatchObject({
    meta: { page: 2, pages: 2, total: 23 },
    links: { pages: { previous: expect.stringContaining('page=1') } },
  })
})

test('models nobody provides are told of, and the catalogue says it is empty', async () => {
  const made = await cove.call('genai-inference-router-create', {
    Name: 'early',
    FallbackModels: ['not-yet'],
  })
  expect(JSON.stringify(made.content)).toContain('No provider of this Cove has not-yet yet')
  const response = await cove.fetch('/v2/gen-ai/models')
  expect(decodeURIComponent(response.headers.get('x-cove-note') ?? '')).toContain(
    'No model is known yet',
  )
  expect(await cove.api(models.list, {})).toMatchObject({ models: [], meta: { total: 0 } })
  expect(await (await cove.fetch('/v2/genai/custom_models?page=1&per_page=100')).json()).toEqual({
    models: [],
    links: {},
    meta: { page: 1, pages: 1, total: 0 },
  })
})
