import type { Candidate, InferenceConfig, RunRecord } from '../evaluation-runs/record.ts'
import type { ChatMessage, ChatRequest, DirectEndpoint } from './models.ts'

/** A model by name, or where an agent answers. */
export const targetOf = (candidate: Candidate): string | DirectEndpoint => {
  if (candidate.kind === 'model') return candidate.name
  if (candidate.protocol === 'model') return candidate.url
  return {
    key: `deployment ${candidate.url}`,
    provider: candidate.name,
    model: candidate.model ?? candidate.name,
    baseUrl: candidate.url.replace(/\/chat\/completions\/?$/, '').replace(/\/+$/, ''),
    apiKeyEnv: candidate.api_key_env ?? null,
    priceIn: null,
    priceOut: null,
    contextWindow: null,
    maxConcurrency: null,
  }
}

/** What is sent to a chat model for one row. */
export const requestOf = (run: RunRecord, input: string): ChatRequest => {
  const { candidate, inference } = run
  const system =
    candidate.kind === 'deployment' ? candidate.instruction : inference.system_prompt || undefined
  const messages = candidate.kind === 'deployment' ? queryMessages(input) : [asUser(input)]
  return {
    messages: system ? [{ role: 'system', content: system }, ...messages] : messages,
    ...sampling(inference),
  }
}

const sampling = ({ max_tokens, temperature, top_p, stop_token }: InferenceConfig) => ({
  ...(max_tokens && { max_tokens }),
  ...(temperature !== undefined && { temperature }),
  ...(top_p !== undefined && { top_p }),
  ...(stop_token && { stop: stop_token }),
})

const asUser = (content: string): ChatMessage => ({ role: 'user', content })

/** Fields in which queries usually carry their text. */
const textFields = ['question', 'query', 'input', 'prompt', 'message', 'text']

/** A query object as messages: its own, the one text it carries, or all of it. */
const queryMessages = (input: string): ChatMessage[] => {
  const query: Record<string, unknown> = JSON.parse(input)
  const { messages } = query
  if (Array.isArray(messages) && messages.every(isMessage)) return messages
  const text = textFields.map((field) => query[field]).find((value) => typeof value === 'string')
  return [asUser(typeof text === 'string' ? text : input)]
}

const isMessage = (value: unknown): value is ChatMessage =>
  typeof value === 'object' &&
  value !== null &&
  ['system', 'user', 'assistant'].includes((value as ChatMessage).role) &&
  typeof (value as ChatMessage).content === 'string'
