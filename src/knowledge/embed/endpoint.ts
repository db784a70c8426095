import { z } from 'zod'
import { ApiError, messageOf } from '#core/error.ts'
import { type Embedder, unit } from './embedder.ts'

/** Texts in one request: what the common servers accept. */
const batchSize = 64

const Answer = z.object({
  data: z.array(z.object({ index: z.number().int(), embedding: z.array(z.number()) })),
})

export interface EndpointOptions {
  /** Up to and including `/v1`. */
  baseUrl: string
  model: string
  apiKey?: string
  fetch?: typeof fetch
}

/** Any server with an OpenAI-compatible `/embeddings`. */
export const endpointEmbedder = (options: EndpointOptions): Embedder => {
  const { baseUrl, model, apiKey, fetch: send = fetch } = options
  const url = `${baseUrl.replace(/\/+$/, '')}/embeddings`

  const request = async (
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<Float32Array[]> => {
    const response = await send(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input: texts }),
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      throw failed(`${url} does not answer: ${messageOf(cause)}`, cause)
    })
    if (!response.ok)
      throw failed(`${url} answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
    const answer = Answer.safeParse(await response.json().catch(() => undefined))
    if (!answer.success || answer.data.data.length !== texts.length)
      throw failed(`${url} did not answer one embedding for each of ${texts.length} texts.`)
    return answer.data.data
      .toSorted((a, b) => a.index - b.index)
      .map(({ embedding }) => unit(embedding))
  }

  let width: Promise<number> | undefined
  return {
    model: `${baseUrl} ${model}`,
    width: () => {
      width ??= request(['width']).then(
        ([vector]) => vector?.length ?? 0,
        (error) => {
          width = undefined
          throw error
        },
      )
      return width
    },
    embed: async (texts, { signal } = {}) => {
      const vectors: Float32Array[] = []
      for (let at = 0; at < texts.length; at += batchSize)
        vectors.push(...(await request(texts.slice(at, at + batchSize), signal)))
      return vectors
    },
  }
}

const failed = (message: string, cause?: unknown) =>
  ApiError.unavailable(`Embedding failed: ${message}`, cause)
