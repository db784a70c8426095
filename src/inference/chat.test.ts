import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '#platform/log.ts'
import { openSqlite } from '#platform/store/sqlite.ts'
import { testClock } from '../../test/clock.ts'
import { refuses, type ScriptedUpstream, says, scriptedUpstream } from '../../test/upstream.ts'
import { chat } from './chat.ts'
import type { Endpoint } from './endpoint.ts'
import { createInference, type Inference } from './inference.ts'

let upstream: ScriptedUpstream
let inference: Inference
let endpoint: Endpoint
const clock = testClock()

beforeAll(async () => {
  upstream = await scriptedUpstream(says('fine'))
  const store = await openSqlite(':memory:')
  inference = createInference({ store, clock, log: silentLog, env: {} })
  endpoint = {
    key: 'agent',
    provider: 'agents',
    model: 'helper',
    baseUrl: upstream.url,
    apiKeyEnv: null,
    priceIn: 2,
    priceOut: 4,
    contextWindow: null,
    maxConcurrency: null,
  }
})
afterAll(async () => {
  await inference.close()
  await upstream.close()
})

const { signal } = new AbortController()
const request = { messages: [{ role: 'user', content: 'How are you?' }], max_tokens: 5 } as const

test('an endpoint that is in no catalogue answers', async () => {
  const answer = await chat(inference, endpoint, request, { signal })
  expect(answer).toMatchObject({
    text: 'fine',
    finish: 'stop',
    tokens: { input: 12, output: 3 },
    cost: (12 * 2 + 3 * 4) / 1e6,
    model: 'helper',
  })
  expect(upstream.received[0]?.body).toMatchObject({ model: 'helper', max_tokens: 5 })
})

test('a model that is not there, a rate limit and a missing key are told apart', async () => {
  await expect(chat(inference, 'nope', request, { signal })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('No model is known to this Cove yet'),
  })
  upstream.reply = refuses(429, 'slow down', { 'retry-after': '9' })
  await expect(chat(inference, endpoint, request, { signal })).rejects.toMatchObject({
    status: 429,
    retryAfter: 9,
  })
  clock.advance(9000)
  const keyed = { ...endpoint, key: 'keyed', apiKeyEnv: 'MISSING_KEY' }
  await expect(chat(inference, keyed, request, { signal })).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining('MISSING_KEY is not set where Cove runs'),
  })
})

test('a call can be cancelled', async () => {
  upstream.reply = () => {}
  const gone = new AbortController()
  const answer = chat(inference, endpoint, request, { signal: gone.signal })
  answer.catch(() => {})
  await expect.poll(() => upstream.received.length).toBe(3)
  gone.abort()
  await expect(answer).rejects.toMatchObject({ status: 499 })
})
