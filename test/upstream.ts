import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the upstream received it. */
export interface Received {
  path: string
  authorization: string | undefined
  body: Record<string, unknown>
}

export type Reply = (response: ServerResponse, received: Received) => void | Promise<void>

/** An OpenAI-compatible server that does exactly what the test says. */
export interface ScriptedUpstream {
  url: string
  received: Received[]
  /** How many requests were cut off by the caller. */
  abandoned: number
  /** What it does from now on. */
  reply: Reply
  /** Stop listening, so that connections are refused; then listen on the same port again. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

export const scriptedUpstream = async (
  reply: Reply,
  models: readonly string[] = [],
): Promise<ScriptedUpstream> => {
  const upstream: ScriptedUpstream = {
    url: '',
    received: [],
    abandoned: 0,
    reply,
    down: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    up: () => new Promise((resolve) => void server.listen(port, '127.0.0.1', () => resolve())),
    close: () => (server.listening ? upstream.down() : Promise.resolve()),
  }
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    response.on('close', () => {
      if (!response.writableFinished) upstream.abandoned++
    })
    if (request.url === '/v1/models') {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id })) }))
      return
    }
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const received = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(parts).toString() || '{}'),
    }
    upstream.received.push(received)
    await upstream.reply(response, received)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  upstream.url = `http://127.0.0.1:${port}/v1`
  return upstream
}

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }

const completion = (model: unknown, message: Record<string, unknown>, finish: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage,
})

const chunkOf = (model: unknown, delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model,
  choices: [{ index: 0, delta, finish_reason: finish }],
})

export const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'up-1' })
  response.end(JSON.stringify(value))
}

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

export const openStream = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}

/** Answers as a good server does, saying `text`. */
export const says =
  (text: string): Reply =>
  (response, { path, body }) => {
    if (path === '/v1/embeddings') {
      const embedding = [0.1, 0.2]
      return json(response, {
        object: 'list',
        model: body.model,
        data: [{ object: 'embedding', index: 0, embedding }],
        usage: { prompt_tokens: 4, total_tokens: 4 },
      })
    }
    if (path === '/v1/responses') return respond(response, text, body)
    if (body.tools) {
      const call = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } }
      return json(
        response,
        completion(body.model, { content: null, tool_calls: [call] }, 'tool_calls'),
      )
    }
    if (body.stream !== true)
      return json(response, completion(body.model, { content: text }, 'stop'))
    openStream(response)
    for (const word of text.split(/(?<= )/)) {
      response.write(event(chunkOf(body.model, { content: word })))
    }
    response.write(event(chunkOf(body.model, {}, 'stop')))
    const options = body.stream_options as { include_usage?: boolean } | undefined
    if (options?.include_usage) {
      response.write(event({ ...chunkOf(body.model, {}), choices: [], usage }))
    }
    response.end('data: [DONE]\n\n')
  }

const respond = (response: ServerResponse, text: string, body: Record<string, unknown>) => {
  const whole = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: body.model,
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
  }
  if (body.stream !== true) return json(response, whole)
  openStream(response)
  const send = (type: string, value: object) =>
    response.write(`event: ${type}\n${event({ type, ...value })}`)
  send('response.created', { response: { ...whole, status: 'in_progress', usage: null } })
  send('response.output_text.delta', { delta: text, item_id: 'msg_1', output_index: 0 })
  send('response.completed', { response: whole })
  response.end()
}

/** Says the first word and then breaks the connection. */
export const cutsStream: Reply = (response, { body }) => {
  openStream(response)
  response.write(event(chunkOf(body.model, { content: 'Half ' })), () => {
    setTimeout(() => response.destroy(), 20)
  })
}

/** Sends headers and nothing more. */
export const stalls: Reply = (response) => openStream(response)

/** Says nothing at all. */
export const hangs: Reply = () => {}

export const refuses =
  (status: number, message: string, headers: Record<string, string> = {}): Reply =>
  (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    json(response, { error: { message, type: 'x', code: null } }, status)
  }

export const garbage: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end('<html>not what you asked for')
}
