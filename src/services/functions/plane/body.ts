import type { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'

/** The body of a request as text, refused as soon as it is too long. */
export const boundedBody = async (request: Request, limit: number): Promise<string> => {
  const declared = request.headers.get('content-length')
  const tooLarge = (size: number) =>
    new ApiError(413, `Request larger than allowed: ${size} > ${limit} bytes.`)
  if (declared !== null && Number(declared) > limit) throw tooLarge(Number(declared))
  // A length that was announced holds; only without one has the stream to be watched.
  if (declared !== null) return declared === '0' ? '' : request.text()
  if (!request.body) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body) {
    size += part.byteLength
    if (size > limit) throw tooLarge(size)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

export const parseJson = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError(400, `The request content was malformed:\n${(cause as Error).message}`, {
      cause,
    })
  }
}

export const parseBody = <S extends z.ZodType>(schema: S, text: string): z.output<S> => {
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw ApiError.badRequest(`The request content was malformed:\n${issuesOf(parsed.error, '')}`)
}
