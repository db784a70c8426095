import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { tokens } from '#services/cove/tokens/contract.ts'
import { models as modelOperations } from '#services/genai/models/contract.ts'
import { providers } from '#services/genai/providers/contract.ts'
import { routers } from '#services/genai/routers/contract.ts'
import {
  cutsStream,
  event,
  garbage,
  hangs,
  openStream,
  type Reply,
  refuses,
  type ScriptedUpstream,
  says,
  scriptedUpstream,
  stalls,
} from '../../test/upstream.ts'
import { type World, world } from '../../test/world.ts'

let cove: World
let a: ScriptedUpstream
let b: ScriptedUpstream

/** The official client, talking to Cove in this process. */
const client = (token?: string) =>
  new OpenAI({
    apiKey: token ?? cove.token,
    baseURL: 'http://127.0.0.1:8787/v1',
    maxRetries: 0,
    fetch: async (url, init) => cove.cove.fetch(new Request(url as string, init as RequestInit)),
  })

beforeAll(async () => {
  a = await scriptedUpstream(says('from a'), ['alpha', 'alpha-embed'])
  b = await scriptedUpstream(says('from b'))
  cove = await world({ env: { B_KEY: 'sesame' } })
  await cove.api(providers.put, { path: { name: 'a' }, body: { base_url: a.url } })
  await cove.api(providers.put, {
    path: { name: 'b' },
    body: {
      base_url: b.url,
      api_key_env: 'B_KEY',
      models: [{ id: 'beta', price_in: 1, price_out: 2, context_window: 8000 }],
    },
  })
  const create = (name: string, policies: object[], fallback_models: string[]) =>
    cove.api(routers.create, { body: { name, policies, fallback_models } })
  await create('pair', [], ['alpha', 'beta'])
  await create(
    'tasks',
    [
      { task_slug: 'translation', models: ['beta'], selection_policy: { prefer: 'fastest' } },
      {
        custom_task: { name: 'refunds', description: 'A customer wants money back for an order.' },
        models: ['beta'],
      },
    ],
    ['alpha'],
  )
})
afterAll(async () => {
  await cove.close()
  await a.close()
  await b.close()
})

/** Everyone is well again: what failed before is forgotten after an hour. */
beforeEach(() => {
  cove.clock.advance(3_600_001)
  for (const upstream of [a, b]) Object.assign(upstream, { received: [], abandoned: 0 })
  a.reply = says('from a')
  b.reply = says('from b')
})

const hello = { messages: [{ role: 'user' as const, content: 'Hello there' }] }
const ask = (model: string, more: object = {}) =>
  client()
    .chat.completions.create({ model, ...hello, ...more, stream: false })
    .withResponse()

test('a model answers the official client, with the provider key and without ours', async () => {
  const { data, response } = await ask('beta')
  expect(data.choices[0]?.message.content).toBe('from b')
  expect(data.usage?.total_tokens).toBe(15)
  expect(response.headers.get('x-cove-model')).toBe('b/beta')
  expect(response.headers.get('x-cove-attempts')).toBe('1')
  expect(response.headers.get('x-request-id')).toBe('up-1')
  expect(response.headers.has('x-cove-router')).toBe(false)
  expect(b.received).toEqual([
    {
      path: '/v1/chat/completions',
      authorization: 'Bearer sesame',
      body: { model: 'beta', ...hello, stream: false },
    },
  ])
  await ask('a/alpha')
  expect(a.received[0]?.authorization).toBeUndefined()
})

test('a stream comes through event by event, usage only for those who asked', async () => {
  const read = async (more: object) => {
    const stream = await client().chat.completions.create({
      model: 'beta',
      ...hello,
      ...more,
      stream: true,
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  }
  const plain = await read({})
  expect(plain.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('from b')
  expect(plain.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  expect(plain.some((chunk) => chunk.usage)).toBe(false)
  const wanted = await read({ stream_options: { include_usage: true } })
  expect(wanted.at(-1)?.usage?.total_tokens).toBe(15)
})

test('tools, responses, streamed responses, embeddings and models work as the client expects', async () => {
  const { data } = await ask('beta', {
    tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }],
  })
  const call = data.choices[0]?.message.tool_calls?.[0]
  expect(call?.type === 'function' && call.function.name).toBe('now')

  const whole = await client().responses.create({ model: 'router:pair', input: 'Say hi' })
  expect(whole.output_text).toBe('from a')
  const types: string[] = []
  const stream = await client().responses.create({ model: 'beta', input: 'Hi', stream: true })
  for await (const each of stream) types.push(each.type)
  expect(types).toEqual(['response.created', 'response.output_text.delta', 'response.completed'])

  const vectors = await client().embeddings.create({
    model: 'alpha-embed',
    input: 'hi',
    encoding_format: 'float',
  })
  expect(vectors.data[0]?.embedding).toEqual([0.1, 0.2])

  const listed = await client().models.list()
  expect(listed.data.map(({ id }) => id)).toEqual([
    'alpha',
    'alpha-embed',
    'beta',
    'router:pair',
    'router:tasks',
  ])
  expect(await client().models.retrieve('beta')).toMatchObject({ id: 'beta', owned_by: 'b' })
  await expect(client().models.retrieve('nope')).rejects.toMatchObject({ status: 404 })
})

test('a prompt goes to the models of its task, and to the fallback when there is none', async () => {
  const routed = async (content: string) => {
    const { response } = await ask('router:tasks', { messages: [{ role: 'user', content }] })
    const header = (name: string) => response.headers.get(`x-cove-${name}`)
    return [header('router'), header('task'), header('model'), header('confidence') !== null]
  }
  const french = 'Translate the following sentence into French: the bridge is closed.'
  expect(await routed(french)).toEqual(['tasks', 'translation', 'b/beta', true])
  const refund = 'Where is my refund? I want the money back for order 4711.'
  expect(await routed(refund)).toEqual(['tasks', 'refunds', 'b/beta', true])
  expect(await routed('What is the capital of Peru?')).toEqual(['tasks', 'none', 'a/alpha', false])
})

/** Each way in which an upstream fails, and how the attempt is recorded. */
const failures: [string, Reply, string][] = [
  ['an error of the server', refuses(500, 'out of order'), 'server'],
  ['a gateway error page', refuses(502, ''), 'server'],
  ['a rate limit', refuses(429, 'slow down', { 'retry-after': '7' }), 'rate_limit'],
  ['an empty purse', refuses(402, 'pay first'), 'quota'],
  ['a quota told as 400', refuses(400, 'insufficient_quota: no credits left'), 'quota'],
  ['a refused key', refuses(401, 'bad key'), 'auth'],
  ['an unknown model', refuses(404, 'no such model'), 'not_found'],
  ['a prompt that is too long', refuses(400, 'maximum context length is 4096'), 'context_length'],
  ['garbage', garbage, 'garbage'],
]

test.each(failures)('%s sends the request to the next model', async (_what, reply, kind) => {
  a.reply = reply
  const { data, response } = await ask('router:pair')
  expect(data.choices[0]?.message.content).toBe('from b')
  expect(response.headers.get('x-cove-attempts')).toBe('2')
  expect(response.headers.get('x-cove-failed')).toBe(`a/alpha=${kind}`)
})

test.each([
  ...failures.filter(([, , kind]) => kind !== 'garbage'),
  [
    'an error event',
    (response) => {
      openStream(response)
      response.end(event({ error: { message: 'overloaded' } }))
    },
    'server',
  ],
  [
    'a stream that ends before it begins',
    (response) => {
      openStream(response)
      response.end()
    },
    'cut',
  ],
  ['an answer that is no stream', garbage, 'garbage'],
] as [string, Reply, string][])(
  '%s before the first token is made good by the next model',
  async (_what, reply, kind) => {
    a.reply = reply
    const { data, response } = await client()
      .chat.completions.create({ model: 'router:pair', ...hello, stream: true })
      .withResponse()
    let text = ''
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('from b')
    expect(response.headers.get('x-cove-failed')).toBe(`a/alpha=${kind}`)
  },
)

test('a refused connection sends the request on', async () => {
  await a.down()
  const { response } = await ask('router:pair')
  expect(response.headers.get('x-cove-failed')).toBe('a/alpha=network')
  await a.up()
})

/** Lets time pass once the upstream has the request. */
const whenAsked = async (upstream: ScriptedUpstream, ms: number) => {
  await expect.poll(() => upstream.received.length).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 20))
  cove.clock.advance(ms)
}

test('a model that hangs, or stalls after the headers, is given up in time', async () => {
  a.reply = hangs
  const whole = ask('router:pair')
  await whenAsked(a, 120_000)
  expect((await whole).response.headers.get('x-cove-failed')).toBe('a/alpha=timeout')

  cove.clock.advance(3_600_001)
  a.received = []
  a.reply = stalls
  const streamed = client()
    .chat.completions.create({ model: 'router:pair', ...hello, stream: true })
    .withResponse()
  await whenAsked(a, 20_000)
  const { data, response } = await streamed
  expect(response.headers.get('x-cove-failed')).toBe('a/alpha=timeout')
  let text = ''
  for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe('from b')
  expect(a.abandoned).toBe(2)
})

test('a stream that is cut ends in an error, never as if it were whole', async () => {
  a.reply = cutsStream
  const stream = await client().chat.completions.create({
    model: 'router:pair',
    ...hello,
    stream: true,
  })
  let text = ''
  const read = async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  }
  await expect(read()).rejects.toThrow(/incomplete: the model closed/)
  expect(text).toBe('Half ')
  const raw = await cove.fetch('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ model: 'alpha', ...hello, stream: true }),
  })
  expect(await raw.text()).not.toContain('[DONE]')
  expect(b.received).toEqual([])
})

test('a stream that falls silent ends in an error', async () => {
  a.reply = (response) => {
    openStream(response)
    response.write(event({ choices: [{ delta: { content: 'Half ' } }] }))
  }
  const raw = cove.fetch('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ model: 'alpha', ...hello, stream: true }),
  })
  const body = (await raw).text()
  await whenAsked(a, 61_000)
  expect(await body).toContain('fell silent and sent nothing more within 60 s')
})

test('a wrong request is answered in the words of the provider, and not sent elsewhere', async () => {
  a.reply = refuses(422, 'temperature must be at most 2')
  await expect(ask('router:pair')).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('temperature must be at most 2'),
  })
  expect(b.received).toEqual([])
})

test('when no model answers, the error names each of them', async () => {
  a.reply = refuses(500, 'out of order')
  b.reply = garbage
  const answer = ask('router:pair')
  answer.catch(() => {})
  await whenAsked(b, 200)
  await expect(answer).rejects.toMatchObject({
    status: 502,
    code: 'upstream_failed',
    message: expect.stringMatching(
      /a\/alpha answered 500: out of order; b\/beta answered with text that is not JSON/,
    ),
  })
})

test('a second try comes only after every other model was asked', async () => {
  const order: string[] = []
  let failed = false
  a.reply = (response, received) => {
    order.push('a')
    if (failed) return says('from a')(response, received)
    failed = true
    return refuses(503, 'restarting')(response, received)
  }
  b.reply = (response, received) => {
    order.push('b')
    return refuses(401, 'bad key')(response, received)
  }
  const answer = ask('router:pair')
  await expect.poll(() => order.length).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 20))
  cove.clock.advance(200)
  const { data, response } = await answer
  expect(data.choices[0]?.message.content).toBe('from a')
  expect(order).toEqual(['a', 'b', 'a'])
  expect(response.headers.get('x-cove-attempts')).toBe('3')
})

test('a rate limit is respected until the time the provider named', async () => {
  a.reply = refuses(429, 'slow down', { 'retry-after': '30' })
  await ask('router:pair')
  a.reply = says('from a')
  expect((await ask('router:pair')).response.headers.get('x-cove-model')).toBe('b/beta')
  await expect(ask('alpha')).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('a/alpha is left alone for now: answered 429: slow down'),
  })
  expect(a.received).toHaveLength(1)
  cove.clock.advance(30_000)
  expect((await ask('router:pair')).response.headers.get('x-cove-model')).toBe('a/alpha')
})

test('the circuit opens after three failures and lets one request try it again', async () => {
  a.reply = refuses(500, 'out of order')
  for (let n = 0; n < 3; n++) await ask('router:pair')
  expect(a.received).toHaveLength(3)
  await ask('router:pair')
  expect(a.received).toHaveLength(3)
  const { providers: known } = await cove.api(providers.list, {})
  expect(known[0]?.models[0]?.health).toContain('failed 3 times in a row')
  cove.clock.advance(5000)
  a.reply = says('from a')
  expect((await ask('router:pair')).response.headers.get('x-cove-model')).toBe('a/alpha')
})

test('a caller that goes away takes its request along', async () => {
  a.reply = hangs
  const gone = new AbortController()
  const whole = client().chat.completions.create(
    { model: 'alpha', ...hello },
    { signal: gone.signal },
  )
  await expect.poll(() => a.received.length).toBe(1)
  gone.abort()
  await expect(whole).rejects.toThrow()
  await expect.poll(() => a.abandoned).toBe(1)

  a.reply = (response) => {
    openStream(response)
    response.write(event({ choices: [{ delta: { content: 'Half ' } }] }))
  }
  const stream = await client().chat.completions.create({ model: 'alpha', ...hello, stream: true })
  for await (const _chunk of stream) break
  await expect.poll(() => a.abandoned).toBe(2)
})

test('who may not ask, and what cannot be asked, is told', async () => {
  await expect(client('wrong-token').models.list()).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
  })
  const post = async (path: string, body: string) => {
    const response = await cove.fetch(path, { method: 'POST', body })
    const { error } = (await response.json()) as { error: { message: string } }
    return [response.status, error.message]
  }
  expect(await post('/v1/chat/completions', '{')).toEqual([
    400,
    'The request body is not valid JSON.',
  ])
  expect(await post('/v1/chat/completions', '{}')).toEqual([
    400,
    'model is required: the id of a model, or router:<name>.',
  ])
  expect(await post('/v1/chat/completions', '{"model":"gpt"}')).toEqual([
    404,
    'The model "gpt" does not exist. Known: alpha, alpha-embed, beta, router:pair, router:tasks.',
  ])
  expect(await post('/v1/embeddings', '{"model":"router:pair","input":"x"}')).toEqual([
    400,
    expect.stringContaining('routers serve chat and responses'),
  ])
  expect((await cove.fetch('/v1/chat/completions')).status).toBe(405)
  const { token } = await cove.api(tokens.create, {
    body: { name: 'other', scopes: ['genai:create'] },
  })
  await expect(client(token.secret).models.list()).rejects.toMatchObject({ status: 403 })
})

test('the cheapest model, or the fastest of late, is asked first', async () => {
  const route = (name: string, prefer: string, models: string[]) => {
    const policies = [{ task_slug: 'translation', models, selection_policy: { prefer } }]
    return cove.api(routers.create, { body: { name, policies, fallback_models: ['alpha'] } })
  }
  await route('thrifty', 'cheapest', ['alpha', 'beta'])
  await route('hasty', 'fastest', ['alpha', 'beta'])
  const messages = [{ role: 'user', content: 'Translate into French: the bridge is closed.' }]
  const answeredBy = async (model: string) =>
    (await ask(model, { messages })).response.headers.get('x-cove-model')
  expect(await answeredBy('router:thrifty')).toBe('b/beta')

  const slow =
    (ms: number, text: string): Reply =>
    (response, received) => {
      cove.clock.advance(ms)
      return says(text)(response, received)
    }
  a.reply = slow(900, 'from a')
  b.reply = slow(90, 'from b')
  cove.clock.advance(3_600_000)
  const first = [await answeredBy('router:hasty'), await answeredBy('router:hasty')]
  expect(first).toEqual(['a/alpha', 'b/beta'])
  expect(await answeredBy('router:hasty')).toBe('b/beta')
  b.reply = slow(9000, 'from b')
  for (let n = 0; n < 3; n++) await answeredBy('router:hasty')
  expect(await answeredBy('router:hasty')).toBe('a/alpha')
})

test('a caller may set the deadlines of a request', async () => {
  const post = (header: string, value: string, more: object = {}) =>
    cove.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { [header]: value },
      body: JSON.stringify({ model: 'alpha', ...hello, ...more }),
    })
  expect((await post('x-cove-deadline-ms', 'soon')).status).toBe(400)
  a.reply = hangs
  const whole = post('x-cove-deadline-ms', '1500')
  await whenAsked(a, 1500)
  expect((await whole).status).toBe(504)
  expect(await (await whole).text()).toContain('a/alpha did not finish its answer within 1.5 s')
  a.received = []
  a.reply = stalls
  const streamed = post('x-cove-first-token-ms', '700', { stream: true })
  await whenAsked(a, 700)
  expect(await (await streamed).text()).toContain('a/alpha sent no first token within 0.7 s')
})

test('what was asked is metered by router, task and model', async () => {
  const { stats: before } = await cove.api(routers.stats, { query: { router: 'tasks' } })
  const french = 'Translate this into French: the bridge is closed.'
  await ask('router:tasks', { messages: [{ role: 'user', content: french }] })
  const { stats } = await cove.api(routers.stats, { query: { router: 'tasks' } })
  const of = (list: typeof stats) => list.find(({ task }) => task === 'translation')
  expect(of(stats)).toMatchObject({
    router: 'tasks',
    provider: 'b',
    model: 'beta',
    requests: (of(before)?.requests ?? 0) + 1,
    input_tokens: (of(before)?.input_tokens ?? 0) + 12,
    output_tokens: (of(before)?.output_tokens ?? 0) + 3,
    total_ms: { p50: expect.any(Number), p95: expect.any(Number) },
  })
  expect((of(stats)?.cost ?? 0) - (of(before)?.cost ?? 0)).toBeCloseTo((12 * 1 + 3 * 2) / 1e6, 9)
})

test('models are in the public catalogue and are suggested for tasks', async () => {
  const { models } = await cove.api(modelOperations.list, {})
  expect(models.map(({ id, type }) => [id, type])).toEqual([
    ['alpha', 'chat'],
    ['alpha-embed', 'embedding'],
    ['beta', 'chat'],
  ])
  expect(models[2]).toMatchObject({
    context_window: '8000',
    pricing: { input_price_per_million: 1, output_price_per_million: 2 },
  })
  const { tasks } = await cove.api(routers.taskPresets, { query: { per_page: 1000 } })
  expect(tasks.find(({ task_slug }) => task_slug === 'summarization')?.models).toEqual([
    'beta',
    'alpha',
  ])
  expect(tasks.find(({ task_slug }) => task_slug === 'long-document-qa')?.models).toEqual(['alpha'])
})
