/** Where one model is served, and on what terms. */
export interface Endpoint {
  /** Under which its health and speed are known; unique. */
  readonly key: string
  readonly provider: string
  /** The provider's own name of the model. */
  readonly model: string
  /** `https://api.example.com/v1` */
  readonly baseUrl: string
  /** The environment variable that holds the key; the key itself is read at each call. */
  readonly apiKeyEnv: string | null
  /** US dollars for a million tokens. */
  readonly priceIn: number | null
  readonly priceOut: number | null
  readonly contextWindow: number | null
  readonly maxConcurrency: number | null
}

/** The paths of the OpenAI API that Cove serves and asks for. */
export type Surface = 'chat/completions' | 'responses' | 'embeddings'

export interface Tokens {
  readonly input: number
  readonly output: number
}

/** US dollars, or null when no price was declared. */
export const costOf = (endpoint: Endpoint, tokens: Tokens): number | null =>
  endpoint.priceIn === null && endpoint.priceOut === null
    ? null
    : (tokens.input * (endpoint.priceIn ?? 0) + tokens.output * (endpoint.priceOut ?? 0)) / 1e6
