import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { providers } from '#services/genai/providers/contract.ts'
import {
  event,
  json,
  openStream,
  type Reply,
  type ScriptedUpstream,
  says,
  scriptedUpstream,
} from '../../../test/upstream.ts'
import { type World, world } from '../../../test/world.ts'

let cove: World
let upstream: ScriptedUpstream
let client: OpenAI

/** A provider that knows chat completions only. */
const chatOnly =
  (reply: Reply): Reply =>
  (response, received) =>
    received.path === '/v1/chat/completions'
      ? reply(response, received)
      : json(response, { error: { message: 'unknown path' } }, 404)

beforeAll(async () => {
  upstream = await scriptedUpstream(chatOnly(says('Good day')))
  cove = await world()
  await cove.api(providers.put, {
    path: { name: 'old' },
    body: { base_url: upstream.url, models: [{ id: 'chatty' }] },
  })
  client = new OpenAI({
    apiKey: cove.token,
    baseURL: 'http://127.0.0.1:8787/v1',
    maxRetries: 0,
    fetch: async (url, init) => cove.cove.fetch(new Request(url as string, init as RequestInit)),
  })
})
afterAll(async () => {
  await cove.close()
  await upstream.close()
})
beforeEach(() => {
  upstream.received = []
  upstream.reply = chatOnly(says('Good day'))
})

const now = {
  type: 'function' as const,
  name: 'now',
  description: 'The time',
  parameters: { type: 'object', properties: {} },
  strict: false,
}

test('a provider without responses answers them through chat completions', async () => {
  const answer = await client.responses.create({
    model: 'chatty',
    instructions: 'Be polite.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'c1', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'noon' },
    ],
    max_output_tokens: 9,
    text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' } } },
  })
  expect(answer.output_text).toBe('Good day')
  expect(answer).toMatchObject({
    status: 'completed',
    usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 },
  })
  expect(upstream.received.at(-1)?.body).toEqual({
    model: 'chatty',
    messages: [
      { role: 'system', content: 'Be polite.' },
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'now', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'noon' },
    ],
    max_tokens: 9,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'x', schema: { type: 'object' } },
    },
  })
  await client.responses.create({ model: 'chatty', input: 'Again' })
  expect(upstream.received.map(({ path }) => path)).toEqual([
    '/v1/responses',
    '/v1/chat/completions',
    '/v1/chat/completions',
  ])
})

test('its stream has every event, and the client can assemble it', async () => {
  const stream = client.responses.stream({ model: 'chatty', input: 'Hello' })
  const types: string[] = []
  for await (const each of stream) types.push(each.type)
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  const whole = await stream.finalResponse()
  expect(whole.output_text).toBe('Good day')
  expect(whole.usage?.total_tokens).toBe(15)
})

test('tool calls come back as function calls, whole and streamed', async () => {
  const whole = await client.responses.create({ model: 'chatty', input: 'Time?', tools: [now] })
  expect(whole.output).toMatchObject([{ type: 'function_call', call_id: 'call_1', name: 'now' }])
  expect(upstream.received.at(-1)?.body.tools).toEqual([
    {
      type: 'function',
      function: {
        name: 'now',
        description: 'The time',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    },
  ])

  const part = (delta: object, finish_reason: string | null = null) =>
    event({ id: 'x', created: 1, model: 'chatty', choices: [{ index: 0, delta, finish_reason }] })
  const call = (fields: object) => part({ tool_calls: [{ index: 0, ...fields }] })
  upstream.reply = chatOnly((response) => {
    openStream(response)
    response.write(call({ id: 'call_2', function: { name: 'now', arguments: '{"a"' } }))
    response.write(call({ function: { arguments: ':1}' } }))
    response.end(`${part({}, 'tool_calls')}data: [DONE]\n\n`)
  })
  const stream = client.responses.stream({ model: 'chatty', input: 'Time?', tools: [now] })
  expect((await stream.finalResponse()).output).toMatchObject([
    { type: 'function_call', call_id: 'call_2', name: 'now', arguments: '{"a":1}' },
  ])
})

test('what chat completions cannot do is told', async () => {
  await expect(
    client.responses.create({ model: 'chatty', input: 'More', previous_response_id: 'resp_1' }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(
      'previous_response_id needs a provider that serves /responses',
    ),
  })
  await expect(
    client.responses.create({ model: 'chatty', input: 'x', tools: [{ type: 'web_search' }] }),
  ).rejects.toThrow(/A tool of the type web_search needs a provider/)
})

test('an answer that was cut short by its limit is incomplete', async () => {
  upstream.reply = chatOnly((response) =>
    json(response, {
      id: 'x',
      choices: [{ message: { content: 'Good' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    }),
  )
  expect(await client.responses.create({ model: 'chatty', input: 'Hello' })).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  })
})
