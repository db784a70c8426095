import type { z } from 'zod'
import { ApiError } from '#core/error.ts'
import type { Operation } from '#core/operation.ts'
import { issuesOf } from '#core/schema.ts'
import type { Call } from './service.ts'
import type { Token } from './tokens.ts'

/** A handler as the app runs it: raw request in, body and note out. */
export type Handler = (raw: {
  request: Request
  path: Record<string, string>
  token: Token
}) => Promise<{ body: unknown; note: string | undefined }>

/** Bytes of a request body. */
const bodyLimit = 8 * 1024 * 1024

/** Validate by the contract, run, and make the links of pages absolute. */
export const handlerOf =
  <O extends Operation>(operation: O, handler: (call: Call<O>) => unknown): Handler =>
  async ({ request, path, token }) => {
    const url = new URL(request.url)
    const notes: string[] = []
    const query = operation.query && validated(operation.query, queryOf(url), '', operation.invalid)
    const body =
      operation.body && validated(operation.body, await jsonBody(request), '', operation.invalid)
    const answer = await handler({
      path: Object.fromEntries(Object.entries(path).map(([name, part]) => [name, decoded(part)])),
      query,
      body,
      token,
      note: (text: string) => notes.push(text),
      origin: url.origin,
      signal: request.signal,
    } as never)
    return {
      body: withAbsoluteLinks(answer, url),
      note: notes.length > 0 ? notes.join(' ') : undefined,
    }
  }

export const validated = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  root: string,
  status: 400 | 422,
): z.output<S> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ApiError(status, `${issuesOf(result.error, root)}.`)
}

/** Repeated names become lists; `name[]` is the same as `name`. */
const queryOf = (url: URL): Record<string, string | string[]> => {
  const query: Record<string, string | string[]> = {}
  for (const key of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(key)
    query[key.replace(/\[\]$/, '')] =
      values.length === 1 && !key.endsWith('[]') ? (values[0] ?? '') : values
  }
  return query
}

const jsonBody = async (request: Request): Promise<unknown> => {
  const text = await boundedText(request, bodyLimit)
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw ApiError.badRequest('The request body is not valid JSON.')
  }
}

/** The body of a request, refused when it is larger than `limit` bytes. */
export const boundedText = async (request: Request, limit: number): Promise<string> => {
  const tooLarge = () => new ApiError(413, `The request body is larger than ${limit} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  if (request.headers.has('content-length')) return request.text()
  if (!request.body) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body) {
    size += part.byteLength
    if (size > limit) throw tooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw ApiError.badRequest(`The path has a malformed escape: ${part}`)
  }
}

const withAbsoluteLinks = (answer: unknown, url: URL): unknown => {
  const pages = (answer as { links?: { pages?: Record<string, string> } } | undefined)?.links?.pages
  if (!pages) return answer
  const absolute = Object.entries(pages).map(([rel, link]) => {
    if (!link.startsWith('?')) return [rel, link]
    const target = new URL(url)
    for (const [name, value] of new URLSearchParams(link)) target.searchParams.set(name, value)
    return [rel, target.href]
  })
  return { ...(answer as object), links: { pages: Object.fromEntries(absolute) } }
}
