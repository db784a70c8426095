/** What the engine needs of the models: one answer to one request. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[]
  readonly max_tokens?: number
  readonly temperature?: number
  readonly top_p?: number
  readonly stop?: string
  readonly response_format?: unknown
  readonly seed?: number
}

export interface ChatAnswer {
  readonly text: string
  readonly tokens: { readonly input: number; readonly output: number }
  /** US dollars, or null when the model has no price. */
  readonly cost: number | null
  /** The model that answered, and the task that a router saw. */
  readonly model: string
  readonly task: string
}

/** An OpenAI-compatible endpoint that is in no catalogue. */
export interface DirectEndpoint {
  readonly key: string
  readonly provider: string
  readonly model: string
  readonly baseUrl: string
  readonly apiKeyEnv: string | null
  readonly priceIn: number | null
  readonly priceOut: number | null
  readonly contextWindow: number | null
  readonly maxConcurrency: number | null
}

/** Fails with an `ApiError`: 429 and 503 may say when to come back. */
export type Chat = (
  target: string | DirectEndpoint,
  request: ChatRequest,
  options: { signal: AbortSignal; deadline: number },
) => Promise<ChatAnswer>
