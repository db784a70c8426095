import type { Surface, Tokens } from '../endpoint.ts'

/** About four characters make a token. */
export const estimatedTokens = (characters: number): number => Math.ceil(characters / 4)

interface Usage {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  input_tokens?: unknown
  output_tokens?: unknown
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** Tokens as a provider reports them, in the words of either API. */
const tokensIn = (usage: Usage | null | undefined): Tokens | undefined => {
  const input = count(usage?.prompt_tokens) ?? count(usage?.input_tokens)
  if (input === undefined) return undefined
  return { input, output: count(usage?.completion_tokens) ?? count(usage?.output_tokens) ?? 0 }
}

/** Tokens of a whole answer. */
export const usageOf = (answer: { usage?: Usage | null }): Tokens | undefined =>
  tokensIn(answer.usage)

/** What the events of a stream have told so far. */
export interface StreamReading {
  /** The model said that it is done. */
  finished: boolean
  usage: Tokens | undefined
  /** Events with content; about as many as tokens. */
  deltas: number
  /** An error that the provider reports inside the stream. */
  error: string | undefined
}

export const newReading = (): StreamReading => ({
  finished: false,
  usage: undefined,
  deltas: 0,
  error: undefined,
})

interface ChatChunk {
  usage?: Usage | null
  choices?: unknown[]
  error?: { message?: string } | string | null
}

interface ResponseEvent {
  type?: string
  message?: string
  response?: { usage?: Usage | null; error?: { message?: string } | null }
}

/**
 * Takes one event's data into the reading. True for an event that carries nothing but the usage
 * that Cove asked for. Only the few events that can matter are parsed.
 */
export const readEvent = (surface: Surface, reading: StreamReading, data: string): boolean =>
  surface === 'responses' ? readResponseEvent(reading, data) : readChatChunk(reading, data)

const readChatChunk = (reading: StreamReading, data: string): boolean => {
  if (data === '[DONE]') {
    reading.finished = true
    return false
  }
  reading.deltas++
  if (/"finish_reason"\s*:\s*"/.test(data)) reading.finished = true
  if (!/"usage"\s*:\s*\{|"error"\s*:/.test(data)) return false
  const chunk = parsed<ChatChunk>(data)
  const usage = tokensIn(chunk?.usage)
  if (usage) reading.usage = usage
  if (chunk?.error)
    reading.error = typeof chunk.error === 'string' ? chunk.error : (chunk.error.message ?? 'error')
  return usage !== undefined && Array.isArray(chunk?.choices) && chunk.choices.length === 0
}

const readResponseEvent = (reading: StreamReading, data: string): boolean => {
  reading.deltas++
  if (!/"type"\s*:\s*"(response\.(completed|incomplete|failed)|error)"/.test(data)) return false
  const event = parsed<ResponseEvent>(data)
  reading.usage = tokensIn(event?.response?.usage) ?? reading.usage
  if (event?.type === 'error') reading.error = event.message ?? 'error'
  else reading.finished = true
  if (event?.type === 'response.failed')
    reading.error = event.response?.error?.message ?? 'the response failed'
  return false
}

const parsed = <T>(data: string): T | undefined => {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined // A fragment that is not JSON is passed on as it came.
  }
}
