import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../test/bundle.ts'
import { echoServer, envelope } from '../../test/echo.ts'
import { type JsonObject, protocolVersions } from './protocol.ts'
import { type StdioOptions, serveStdio } from './stdio.ts'

/** The server on two streams: `say` puts a line in, `heard` holds what came out. */
const start = (options: Partial<StdioOptions> = {}) => {
  const { spec, diary } = echoServer()
  const input = new PassThrough()
  const heard: JsonObject[] = []
  const output = new Writable({
    write(chunk, _, done) {
      for (const line of String(chunk).trim().split('\n')) heard.push(JSON.parse(line))
      done()
    },
  })
  const ended = serveStdio(spec, { input, output, ...options })
  const say = (message: unknown) =>
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  const answers = (count: number) => expect.poll(() => heard).toHaveLength(count)
  return { say, input, heard, answers, ended, diary }
}

const request = (id: unknown, method: string, params: JsonObject = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const calling = (id: unknown, name: string, rest: JsonObject = {}) =>
  request(id, 'tools/call', { name, ...rest })

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text

let program: Awaited<ReturnType<typeof bundle>>
const folder = mkdtempSync(join(tmpdir(), 'cove-stdio-'))
beforeAll(async () => {
  program = await bundle('test/echo-stdio.ts', folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each(protocolVersions)('the official client spawns it and is asked in %s', async (version) => {
  const client = new Client(
    { name: 'official', version: '2.4.0' },
    {
      capabilities: { elicitation: { form: {} } },
      ...(version === '2026-07-28'
        ? { versionNegotiation: { mode: { pin: version } } }
        : { supportedProtocolVersions: [version] }),
    },
  )
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { yes: true },
  }))
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program.file] }),
  )
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
  const long = `${'🌊\n'.repeat(100_000)}\u0000`
  expect(textOf(await client.callTool({ name: 'echo', arguments: { text: long } }))).toBe(long)
  const seen: unknown[] = []
  const onprogress = (progress: unknown) => seen.push(progress)
  expect(textOf(await client.callTool({ name: 'steps' }, { onprogress }))).toBe('walked')
  expect(seen).toHaveLength(3)
  const deleted = textOf(await client.callTool({ name: 'delete', arguments: { name: 'it' } }))
  expect(deleted).toBe(version >= '2025-06-18' ? 'deleted it' : 'deleted it unasked')
  await client.close()
})

test('a program ends when its input ends, after the answer, and on SIGTERM at once', async () => {
  for (const end of ['input', 'signal']) {
    const child = spawn(process.execPath, [program.file])
    const output = once(child.stdout, 'data')
    child.stdin.write(`${JSON.stringify(request(1, 'ping'))}\n`)
    expect(String((await output)[0])).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
    if (end === 'input') child.stdin.end()
    else {
      child.stdin.write(`${JSON.stringify(calling(2, 'wait'))}\n`)
      child.kill('SIGTERM')
    }
    expect(await once(child, 'exit')).toEqual([0, null])
  }
})

test('lines may arrive in pieces, together, empty, or far too long', async () => {
  const { input, say, heard, answers } = start({ limit: 200 })
  const ping = JSON.stringify(request('ä', 'ping'))
  const bytes = Buffer.from(`${ping}\r\n\n${ping.replace('ä', 'b')}\n`)
  for (const byte of bytes) input.write(Buffer.of(byte))
  await answers(2)
  expect(heard.map(({ id }) => id)).toEqual(['ä', 'b'])
  say('x'.repeat(100_000))
  say(request(3, 'ping'))
  await answers(4)
  expect(heard[2]).toMatchObject({ error: { code: -32700, message: /200 bytes/ } })
  expect(heard[3]).toMatchObject({ id: 3, result: {} })
})

test('what is not a message is refused, and the next one is served', async () => {
  const { say, heard, answers } = start()
  say('{')
  say([request(1, 'ping')])
  say(request({}, 'ping'))
  say(request(2, 'no/such/method'))
  say(calling(3, 'boom'))
  say(calling(4, 'who', envelope({}, '1999-01-01')))
  say(request(5, 'server/discover'))
  say(request(6, 'ping'))
  await answers(8)
  const byCode = heard.map(({ id, error }) => [id, (error as JsonObject | undefined)?.code])
  expect(byCode.sort()).toEqual(
    [
      [undefined, -32700],
      [undefined, -32600],
      [undefined, -32600],
      [2, -32601],
      [3, -32603],
      [4, -32022],
      [5, -32602],
      [6, undefined],
    ].sort(),
  )
})

test('the handshake decides: batches in 2025-03-26, none before and after', async () => {
  const { say, heard, answers } = start()
  say(request(1, 'initialize', { protocolVersion: '2025-03-26' }))
  say([request(2, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }])
  say(calling(3, 'who'))
  await answers(3)
  expect(heard).toContainEqual([{ jsonrpc: '2.0', id: 2, result: {} }])
  expect(textOf(heard.find(({ id }) => id === 3)?.result)).toContain('2025-03-26')
})

test('a cancelled request stops and is not answered; its id is free again', async () => {
  const { say, heard, answers, diary } = start()
  say(calling(7, 'wait'))
  await expect.poll(() => diary).toEqual(['waiting'])
  say(request(7, 'ping'))
  await answers(1)
  expect(heard[0]).toMatchObject({ id: 7, error: { code: -32600 } })
  say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
  await expect.poll(() => diary).toEqual(['waiting', 'aborted'])
  say(request(7, 'ping'))
  await answers(2)
  expect(heard[1]).toMatchObject({ id: 7, result: {} })
})

test('a question that nobody answers ends the call, by time or by the end of input', async () => {
  const capabilities = { elicitation: {} }
  const hello = request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities })
  const impatient = start({ patience: 20 })
  impatient.say(hello)
  impatient.say(calling(2, 'delete'))
  await impatient.answers(4)
  expect(impatient.heard[2]).toMatchObject({ method: 'notifications/cancelled' })
  expect(impatient.heard[3]).toMatchObject({ id: 2, error: { message: /Nobody answered/ } })
  const left = start()
  left.say(hello)
  left.say(calling(2, 'delete'))
  await left.answers(2)
  left.input.end()
  await left.ended
  expect(left.heard[2]).toMatchObject({ id: 2, error: { message: /it has gone/ } })
})

test('a client that does not read is not read, and nothing is lost', async () => {
  let release: (() => void) | undefined
  let written = 0
  const output = new Writable({
    highWaterMark: 1000,
    write(chunk, _, done) {
      written += String(chunk).split('\n').length - 1
      if (release) done()
      else release = done
    },
  })
  const { input, say, ended, diary } = start({ output })
  const callTimes = (count: number) => {
    for (let id = 0; id < count; id++) say(calling(id, 'boom'))
  }
  callTimes(100)
  await expect.poll(() => diary).toHaveLength(100)
  callTimes(100)
  input.end()
  await expect.poll(() => input.readableLength).toBe(0)
  expect(diary).toHaveLength(100)
  release?.()
  await ended
  expect(diary).toHaveLength(200)
  await expect.poll(() => written).toBe(200)
})

test('an end from outside cancels what is under way', async () => {
  const stop = new AbortController()
  const { say, ended, diary } = start({ signal: stop.signal })
  say(calling(1, 'wait'))
  await expect.poll(() => diary).toEqual(['waiting'])
  stop.abort()
  await ended
  await expect.poll(() => diary).toEqual(['waiting', 'aborted'])
})
