import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Listening, listen } from '#cli/listen.ts'
import { providers } from '#services/genai/providers/contract.ts'
import {
  event,
  hangs,
  openStream,
  refuses,
  type ScriptedUpstream,
  says,
  scriptedUpstream,
} from '../../test/upstream.ts'
import { type World, world } from '../../test/world.ts'

let cove: World
let server: Listening
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await scriptedUpstream(says('fine'))
  cove = await world()
  await cove.api(providers.put, {
    path: { name: 'up' },
    body: { base_url: upstream.url, models: [{ id: 'one', max_concurrency: 2 }, { id: 'many' }] },
  })
  server = await listen((r) => cove.cove.fetch(r), { host: '127.0.0.1', port: 0, anyPort: false })
})
afterAll(async () => {
  await server.close()
  await cove.close()
  await upstream.close()
})
beforeEach(() => Object.assign(upstream, { received: [], abandoned: 0 }))

const body = (model: string, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more })

/** A request over a real connection. */
const post = (text: string) => {
  const call = request(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${cove.token}`, 'content-type': 'application/json' },
  })
  call.on('error', () => {}) // Tests break connections on purpose.
  call.end(text)
  return call
}

test('a connection that is closed while the model thinks ends the request to it', async () => {
  upstream.reply = hangs
  const calls = [post(body('one')), post(body('one', { stream: true }))]
  await expect.poll(() => upstream.received.length).toBe(2)
  const third = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cove.token}` },
    body: body('one'),
  })
  expect(third.status).toBe(503)
  expect(await third.text()).toContain('up/one is left alone for now: has its 2 requests under way')
  for (const call of calls) call.destroy()
  await expect.poll(() => upstream.abandoned).toBe(2)
  upstream.reply = says('fine')
  await expect
    .poll(async () => {
      const answer = await cove.fetch('/v1/chat/completions', { method: 'POST', body: body('one') })
      return answer.status
    })
    .toBe(200)
})

test('a connection that is closed in the middle of a stream ends the stream of the model', async () => {
  upstream.reply = (response) => {
    openStream(response)
    response.write(event({ choices: [{ delta: { content: 'Half ' } }] }))
  }
  const call = post(body('one', { stream: true }))
  await new Promise((resolve) => call.once('response', (r) => r.once('data', resolve)))
  call.destroy()
  await expect.poll(() => upstream.abandoned).toBe(1)
})

test('a caller that reads slowly slows the model down, and Cove keeps little of it', async () => {
  const piece = event({ choices: [{ delta: { content: 'x'.repeat(64 * 1024) } }] })
  let sent = 0
  upstream.reply = async (response) => {
    openStream(response)
    response.on('close', () => response.emit('drain'))
    while (!response.destroyed && sent < 200 * 1024 * 1024) {
      sent += piece.length
      if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve))
    }
  }
  const call = post(body('many', { stream: true }))
  await new Promise<void>((resolve) => {
    call.once('response', (response) => {
      response.pause()
      resolve()
    })
  })
  let before = -1
  await expect
    .poll(
      () => {
        const still = sent === before
        before = sent
        return still
      },
      { interval: 200 },
    )
    .toBe(true)
  expect(sent).toBeLessThan(20 * 1024 * 1024)
  call.destroy()
  await expect.poll(() => upstream.abandoned).toBe(1)
})

test('what does not fit into memory is refused at once', async () => {
  upstream.reply = hangs
  const large = body('many', { padding: 'x'.repeat(30 * 1024 * 1024) })
  const calls = Array.from({ length: 5 }, () => post(large))
  const statuses: (number | undefined)[] = []
  for (const call of calls) call.on('response', (response) => statuses.push(response.statusCode))
  await expect.poll(() => statuses, { timeout: 10_000 }).toEqual([503])
  for (const call of calls) call.destroy()
  upstream.reply = says('fine')
  const again = () =>
    new Promise((resolve) => post(large).once('response', (r) => resolve(r.resume().statusCode)))
  await expect.poll(again, { timeout: 10_000 }).toBe(200)
  const tooLong = await cove.fetch('/v1/chat/completions', {
    method: 'POST',
    body: body('many', { padding: 'x'.repeat(5 * 1024 * 1024) }),
  })
  expect(tooLong.status).toBe(413)
})

test('a provider that cannot report usage in a stream is asked without it, once and for all', async () => {
  upstream.reply = (response, received) =>
    received.body.stream_options
      ? refuses(400, 'unknown field stream_options')(response, received)
      : says('fine')(response, received)
  const read = async () => {
    const answer = await cove.fetch('/v1/chat/completions', {
      method: 'POST',
      body: body('many', { stream: true }),
    })
    return answer.text()
  }
  expect(await read()).toContain('[DONE]')
  expect(await read()).toContain('[DONE]')
  expect(upstream.received.map((r) => 'stream_options' in r.body)).toEqual([true, false, false])
})
