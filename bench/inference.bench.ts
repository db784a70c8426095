/**
 * What the inference runtime costs: beside calling the upstream directly, a bare Node pass-through
 * and the Portkey gateway, with the same upstream, which answers at once.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectFile } from '#core/built.ts'
import { createClassifier } from '#inference/classify/classifier.ts'
import { load } from './load.ts'
import { median, report } from './measure.ts'
import { installPeer } from './peer.ts'

const [role, upstreamUrl = ''] = process.argv.slice(2)

const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'stub',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Fine.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 },
})
const event = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'stub', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** An upstream that answers at once. */
const stub = createServer(async (incoming, response) => {
  let text = ''
  for await (const part of incoming) text += part
  if (text.includes('"stream":true')) return streamed(response)
  response.setHeader('content-type', 'application/json')
  response.end(answer)
})

const streamed = (response: ServerResponse) => {
  response.setHeader('content-type', 'text/event-stream')
  for (let n = 0; n < 20; n++) response.write(event({ content: 'word ' }, null))
  response.end(`${event({}, 'stop')}data: [DONE]\n\n`)
}

/** The least that a gateway in Node can do: read, parse, send on, pass back. */
const bare = createServer(async (incoming, response) => {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  const body = JSON.stringify(JSON.parse(Buffer.concat(parts).toString()))
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  request(upstreamUrl, { method: 'POST', agent, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers)
    reply.pipe(response)
  }).end(body)
})
const agent = new Agent({ keepAlive: true })

const serve = async (server: typeof stub) => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

interface Program {
  url: string
  child: ChildProcess
}

async function main() {
  const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
  const children: ChildProcess[] = []
  const start = async (
    args: string[],
    says: RegExp,
    env: NodeJS.ProcessEnv = {},
  ): Promise<Program> => {
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env.PATH, HOME: home, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    children.push(child)
    const [said] = await once(child.stdout, 'data')
    return { url: says.exec(String(said))?.[1] ?? '', child }
  }
  try {
    await measure(home, start)
  } finally {
    for (const child of children) child.kill()
    rmSync(home, { recursive: true, force: true })
  }
}

async function measure(
  home: string,
  start: (args: string[], says: RegExp, env?: NodeJS.ProcessEnv) => Promise<Program>,
) {
  const self = process.argv[1] ?? ''
  const path = '/v1/chat/completions'
  const upstream = await start([self, 'stub'], /(\S+)/)
  const direct = upstream.url + path
  const passThrough = `${(await start([self, 'bare', direct], /(\S+)/)).url}${path}`
  const cove = await start([projectFile('bin/cove.cjs'), 'up', '--port', '0'], /running at (\S+)/, {
    COVE_HOME: home,
    COVE_RATE_LIMIT: 'off',
  })
  const portkey = await startPortkey(start)
  const bearer = `Bearer ${readFileSync(join(home, 'token'), 'utf8').trim()}`
  await prepare(cove.url, bearer, `${upstream.url}/v1`)

  const json = { 'content-type': 'application/json', authorization: bearer }
  const targets = {
    direct: { url: direct, model: 'stub', headers: json },
    bare: { url: passThrough, model: 'stub', headers: json },
    model: { url: cove.url + path, model: 'stub', headers: json },
    router: { url: cove.url + path, model: 'router:bench', headers: json },
    portkey: {
      url: portkey + path,
      model: 'stub',
      headers: {
        ...json,
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${upstream.url}/v1`,
      },
    },
  }
  type Target = keyof typeof targets
  const run = (name: Target, connections: number, ms: number) => {
    const { url, model, headers } = targets[name]
    return load({ url, headers, body: bodyFor(model), connections, ms })
  }

  for (const name of Object.keys(targets) as Target[]) await run(name, 4, 700)
  const rounds = 12
  const alone = samples(Math.min)
  const crowd = samples(Math.max)
  const first = samples(Math.min)
  for (let round = 0; round < rounds; round++) {
    for (const name of ['direct', 'model', 'router'] as const) {
      alone.add(name, median((await run(name, 1, 200)).latencies))
      const { url, model, headers } = targets[name]
      first.add(name, await firstByte(url, headers, bodyFor(model, true)))
    }
    for (const name of ['bare', 'model', 'router', 'portkey'] as const) {
      crowd.add(name, (await run(name, 32, 350)).perSecond)
    }
  }
  const classify = await classifierTime()
  const bar = { atMost: 1, unit: 'ms over the bar' }
  report('Inference runtime, upstream that answers at once, best of 12 rounds', [
    {
      what: 'model: added to a direct call, p50, against 1.5 ms',
      ours: alone.best('model') - alone.best('direct'),
      theirs: 1.5,
      ...bar,
    },
    {
      what: 'router: added, p50, against 1.5 ms and the classifier',
      ours: alone.best('router') - alone.best('direct'),
      theirs: 1.5 + classify,
      ...bar,
    },
    {
      what: 'router: first streamed byte later, p50, against 2 ms',
      ours: first.best('router') - first.best('direct'),
      theirs: 2,
      ...bar,
    },
    { what: 'classifying 200 tokens, p50, against 5 ms', ours: classify, theirs: 5, ...bar },
    ...(['model', 'router'] as const).flatMap((name) => [
      {
        what: `${name}: requests/s, 32 connections, against Portkey`,
        ours: crowd.best(name),
        theirs: crowd.best('portkey'),
        unit: 'req/s',
        atLeast: 5,
      },
      {
        what: `${name}: requests/s, 32 connections, against bare Node`,
        ours: crowd.best(name),
        theirs: crowd.best('bare'),
        unit: 'req/s',
        atLeast: 0.6,
      },
    ]),
  ])
}

/** Measurements by name. The best round counts: the one that other programs disturbed least. */
const samples = (better: (...values: number[]) => number) => {
  const all = new Map<string, number[]>()
  return {
    add: (name: string, value: number) => void all.set(name, [...(all.get(name) ?? []), value]),
    best: (name: string) => better(...(all.get(name) ?? [])),
  }
}

const bodyFor = (model: string, stream = false): string =>
  JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: 'Summarize the following note: the port opens again on Monday.' },
    ],
    ...(stream ? { stream: true } : {}),
  })

/** Names the upstream as a provider and makes a router over it. */
async function prepare(url: string, authorization: string, base_url: string) {
  const call = async (method: string, path: string, body: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  }
  await call('PUT', '/v2/gen-ai/providers/stub', { base_url, models: [{ id: 'stub' }] })
  await call('POST', '/v2/gen-ai/models/routers', {
    name: 'bench',
    policies: [
      { task_slug: 'summarization', models: ['stub'], selection_policy: { prefer: 'fastest' } },
    ],
    fallback_models: ['stub'],
  })
}

/** ms until the first byte of a stream's body, median of many. */
async function firstByte(url: string, headers: Record<string, string>, body: string) {
  const connection = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let n = 0; n < 40; n++) {
    const started = performance.now()
    await new Promise<void>((resolve, reject) => {
      request(url, { method: 'POST', agent: connection, headers }, (reply) => {
        reply.once('data', () => times.push(performance.now() - started))
        reply.on('end', resolve)
        reply.resume()
      })
        .on('error', reject)
        .end(body)
    })
  }
  connection.destroy()
  return median(times)
}

async function classifierTime() {
  const classifier = createClassifier()
  const pasted = 'the quarterly report shows that the new line sold well in the north and '
  const prompt = `Summarize the following text for the board. ${pasted.repeat(11)}`
  const times: number[] = []
  for (let n = 0; n < 300; n++) {
    const started = performance.now()
    await classifier.rank(prompt)
    if (n > 50) times.push(performance.now() - started)
  }
  return median(times)
}

async function startPortkey(start: (args: string[], says: RegExp) => Promise<Program>) {
  const home = join(installPeer('@portkey-ai/gateway@1.15.2'), '@portkey-ai', 'gateway')
  const program = join(home, 'build', 'start-server.js')
  if (!existsSync(program)) throw new Error(`${program} is not there.`)
  const probe = createSocket().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await start([program, `--port=${port}`, '--headless'], /(\S+)/)
  await sleep(1500)
  return `http://127.0.0.1:${port}`
}

if (role === 'stub') await serve(stub)
else if (role === 'bare') await serve(bare)
else await main()
