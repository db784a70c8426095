import { ApiError } from '#core/error.ts'
import { Abandoned, type Attempt, Unanswered } from './dispatch.ts'
import { costOf, type Endpoint, type Tokens } from './endpoint.ts'
import type { Answered, Inference } from './inference.ts'
import { refusalOf } from './refusal.ts'

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[]
  readonly max_tokens?: number
  readonly temperature?: number
  readonly top_p?: number
  readonly stop?: string | readonly string[]
  readonly response_format?: unknown
  readonly seed?: number
}

export interface ChatAnswer {
  readonly text: string
  readonly finish: string | null
  readonly tokens: Tokens
  /** US dollars, or null when the model has no price. */
  readonly cost: number | null
  readonly model: string
  readonly provider: string
  readonly router: string
  readonly task: string
  readonly attempts: readonly Attempt[]
  readonly ms: number
}

/**
 * One answer of a chat model, for the parts of Cove that need one. `target` is a model,
 * `router:<name>`, or an endpoint that is in no catalogue. Fails with an `ApiError` whose status
 * says what to do: 429 and 503 carry `retryAfter`, 404 means that there is no such model.
 */
export const chat = async (
  inference: Inference,
  target: string | Endpoint,
  request: ChatRequest,
  { signal, deadline }: { signal: AbortSignal; deadline?: number },
): Promise<ChatAnswer> => {
  const limits = deadline === undefined ? {} : { total: deadline }
  const ask = { surface: 'chat/completions', body: { ...request }, signal, limits } as const
  try {
    const answer =
      typeof target === 'string'
        ? await inference.ask({ ...ask, model: target })
        : await inference.askEndpoint(target, ask)
    return chatAnswer(answer)
  } catch (error) {
    if (error instanceof Unanswered) throw refusalOf(error)
    if (error instanceof Abandoned) throw new ApiError(499, 'The call was cancelled.')
    throw error
  }
}

interface Completion {
  choices?: { message?: { content?: string | null }; finish_reason?: string | null }[]
}

const chatAnswer = (answer: Answered): ChatAnswer => {
  const { endpoint, router, task, attempts } = answer
  if (answer.stream) throw new Error('A chat answer was asked for whole and came as a stream.')
  const choice = (answer.json as Completion).choices?.[0]
  if (choice?.message === undefined) {
    throw new ApiError(502, `${endpoint.provider}/${endpoint.model} answered without a message.`)
  }
  return {
    text: choice.message.content ?? '',
    finish: choice.finish_reason ?? null,
    tokens: answer.tokens,
    cost: costOf(endpoint, answer.tokens),
    model: endpoint.model,
    provider: endpoint.provider,
    router,
    task,
    attempts,
    ms: attempts.reduce((total, { ms }) => total + ms, 0),
  }
}
