import { Failure } from '../upstream/failure.ts'

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** What only a provider with responses of its own can do. */
const beyond = (what: string): Failure => {
  const message = `${what} needs a provider that serves /responses itself`
  return new Failure('bad_request', message, {
    status: 400,
    body: JSON.stringify({
      error: { message: `${message}.`, type: 'invalid_request_error', param: null, code: null },
    }),
  })
}

/** Fields that mean the same in both APIs. */
const shared = [
  'temperature',
  'top_p',
  'user',
  'seed',
  'stream',
  'parallel_tool_calls',
  'top_logprobs',
]

/** A request for a response as a request for a chat completion that asks for the same. */
export const chatRequest = (body: Json): Json => {
  if (body.previous_response_id) throw beyond('previous_response_id')
  if (body.conversation) throw beyond('conversation')
  const format = isObject(body.text) ? body.text.format : undefined
  return {
    ...Object.fromEntries(shared.flatMap((name) => (name in body ? [[name, body[name]]] : []))),
    messages: [
      ...(typeof body.instructions === 'string'
        ? [{ role: 'system', content: body.instructions }]
        : []),
      ...messagesOf(body.input),
    ],
    ...(body.max_output_tokens === undefined ? {} : { max_tokens: body.max_output_tokens }),
    ...(Array.isArray(body.tools) && body.tools.length > 0
      ? { tools: body.tools.map(toolOf) }
      : {}),
    ...(body.tool_choice === undefined ? {} : { tool_choice: choiceOf(body.tool_choice) }),
    ...(isObject(format) && format.type !== 'text' ? { response_format: formatOf(format) } : {}),
  }
}

const messagesOf = (input: unknown): object[] => {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  if (!Array.isArray(input)) return []
  return input.filter(isObject).flatMap(messageOf)
}

const messageOf = (item: Json): object[] => {
  switch (item.type ?? 'message') {
    case 'message':
      return [
        { role: item.role === 'developer' ? 'system' : item.role, content: partsOf(item.content) },
      ]
    case 'function_call': {
      const call = { name: item.name, arguments: item.arguments }
      const tool_calls = [{ id: item.call_id, type: 'function', function: call }]
      return [{ role: 'assistant', content: null, tool_calls }]
    }
    case 'function_call_output': {
      const content = typeof item.output === 'string' ? item.output : JSON.stringify(item.output)
      return [{ role: 'tool', tool_call_id: item.call_id, content }]
    }
    case 'reasoning':
      return [] // What a model thought is of no use to another one.
    default:
      throw beyond(`An input of the type ${String(item.type)}`)
  }
}

const partsOf = (content: unknown): unknown => {
  if (!Array.isArray(content)) return content
  const parts = content.filter(isObject).map((part) => {
    if (part.type === 'input_image')
      return {
        type: 'image_url',
        image_url: { url: part.image_url, detail: part.detail ?? 'auto' },
      }
    if (typeof part.text === 'string') return { type: 'text', text: part.text }
    throw beyond(`A content of the type ${String(part.type)}`)
  })
  return parts.every((part) => 'text' in part) ? parts.map(({ text }) => text).join('\n') : parts
}

const toolOf = (tool: unknown): object => {
  if (!isObject(tool) || tool.type !== 'function') {
    throw beyond(`A tool of the type ${isObject(tool) ? String(tool.type) : typeof tool}`)
  }
  const { type, ...definition } = tool
  return { type, function: definition }
}

const choiceOf = (choice: unknown): unknown =>
  isObject(choice) && choice.type === 'function'
    ? { type: 'function', function: { name: choice.name } }
    : choice

const formatOf = ({ type, ...schema }: Json): object =>
  type === 'json_schema' ? { type, json_schema: schema } : { type }
