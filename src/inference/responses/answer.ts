import type { Tokens } from '../endpoint.ts'

type Json = Readonly<Record<string, unknown>>

interface ToolCall {
  id?: string
  function?: { name?: string; arguments?: string }
}

interface Completion {
  id?: string
  created?: number
  model?: string
  choices?: {
    message?: { content?: string | null; tool_calls?: ToolCall[] }
    finish_reason?: string | null
  }[]
}

/** What a response says of the request it answers. */
const echo = (body: Json): Json => ({
  instructions: body.instructions ?? null,
  metadata: body.metadata ?? {},
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  temperature: body.temperature ?? null,
  tool_choice: body.tool_choice ?? 'auto',
  tools: body.tools ?? [],
  top_p: body.top_p ?? null,
})

const usageOf = (tokens: Tokens | undefined) =>
  tokens
    ? {
        input_tokens: tokens.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: tokens.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: tokens.input + tokens.output,
      }
    : null

export const messageItem = (id: string, text: string, status: string) => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content: status === 'in_progress' ? [] : [textPart(text)],
})

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [] })

export const callItem = (id: string, call: ToolCall, status: string) => ({
  id,
  type: 'function_call',
  call_id: call.id ?? id,
  name: call.function?.name ?? '',
  arguments: call.function?.arguments ?? '',
  status,
})

interface ResponseFacts {
  id: string
  created: number
  model: string
  finish: string | null
  output: readonly object[]
  usage: Tokens | undefined
}

/** A response; still under way when `finish` is null. */
export const responseOf = (body: Json, facts: ResponseFacts) => {
  const cut = facts.finish === 'length' || facts.finish === 'content_filter'
  const reason = facts.finish === 'length' ? 'max_output_tokens' : 'content_filter'
  return {
    id: facts.id,
    object: 'response',
    created_at: facts.created,
    status: facts.finish === null ? 'in_progress' : cut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: cut ? { reason } : null,
    model: facts.model,
    output: facts.output,
    usage: usageOf(facts.usage),
    ...echo(body),
  }
}

/** A chat completion as the response that says the same. */
export const responseFromChat = (body: Json, completion: Completion, usage: Tokens | undefined) => {
  const id = completion.id ?? 'chat'
  const choice = completion.choices?.[0]
  const text = choice?.message?.content
  return responseOf(body, {
    id: `resp_${id}`,
    created: completion.created ?? 0,
    model: completion.model ?? '',
    finish: choice?.finish_reason ?? 'stop',
    usage,
    output: [
      ...(text ? [messageItem(`msg_${id}`, text, 'completed')] : []),
      ...(choice?.message?.tool_calls ?? []).map((call, at) =>
        callItem(`fc_${id}_${at}`, call, 'completed'),
      ),
    ],
  })
}
