import { ApiError, messageOf } from '#core/error.ts'

interface HttpAnswer {
  text: string
  chunks?: { text: string; source_name?: string }[]
}

/** Asks an agent that is any HTTP endpoint: the query object goes as the body. */
export const askPlainHttp = async (
  fetch: (request: Request) => Promise<Response>,
  agent: { url: string; key: string | undefined },
  query: string,
  signal: AbortSignal,
): Promise<HttpAnswer> => {
  const request = new Request(agent.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/plain',
      ...(agent.key && { authorization: `Bearer ${agent.key}` }),
    },
    body: query,
    signal,
  })
  const response = await fetch(request).catch((error) => {
    throw ApiError.unavailable(`${agent.url} does not answer: ${messageOf(error)}`)
  })
  const body = await response.text()
  if (!response.ok) {
    const after = Number(response.headers.get('retry-after') ?? Number.NaN)
    throw new ApiError(
      response.status,
      `${agent.url} answered ${response.status}: ${body.slice(0, 300)}`,
      Number.isFinite(after) ? { retryAfter: after } : {},
    )
  }
  return answerIn(body)
}

const textFields = ['output', 'answer', 'response', 'text', 'content', 'message', 'result', 'body']
const chunkFields = ['chunks', 'context', 'contexts', 'retrieved_contexts', 'documents']

/** The text of an answer in the shapes that agents use; an unknown shape is taken whole. */
const answerIn = (body: string): HttpAnswer => {
  const value = parsed(body)
  if (typeof value === 'string') return { text: value }
  if (typeof value !== 'object' || value === null) return { text: body }
  const record = value as Record<string, unknown>
  const chunks = chunkFields.map((field) => record[field]).find(Array.isArray)
  return {
    text: textIn(record) ?? body,
    ...(chunks && { chunks: chunks.flatMap(chunkOf) }),
  }
}

const textIn = (record: Record<string, unknown>): string | undefined => {
  const [choice] = (Array.isArray(record.choices) ? record.choices : []) as {
    message?: { content?: unknown }
  }[]
  const said = choice?.message?.content
  if (typeof said === 'string') return said
  for (const field of textFields) {
    const value = record[field]
    if (typeof value === 'string') return value
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const inner = textIn(value as Record<string, unknown>)
      if (inner !== undefined) return inner
    }
  }
  return undefined
}

const chunkOf = (value: unknown): { text: string; source_name?: string }[] => {
  if (typeof value === 'string') return [{ text: value }]
  const { text, content, page_content, source_name, source } = (value ?? {}) as Record<
    string,
    unknown
  >
  const said = [text, content, page_content].find((part) => typeof part === 'string')
  const name = [source_name, source].find((part) => typeof part === 'string')
  if (typeof said !== 'string') return []
  return [{ text: said, ...(typeof name === 'string' && { source_name: name }) }]
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return body // Plain text is an answer too.
  }
}
