import { ApiError } from '#core/error.ts'

const most = 200
const standard = 30

const whole = (text: string, what: string): number => {
  if (!/^-?\d+$/.test(text))
    throw ApiError.badRequest(`The value '${text}' is not an integer for ${what}.`)
  return Number(text)
}

/** `limit` and `skip` of a list; 0 asks for as many as there may be. */
export const windowOf = (query: URLSearchParams, what: string) => {
  const limit = whole(query.get('limit') ?? String(standard), what)
  if (limit < 0 || limit > most)
    throw ApiError.badRequest(
      `The value '${limit}' is not in the range of 0 to ${most} for ${what}.`,
    )
  const skip = whole(query.get('skip') ?? '0', what)
  if (skip < 0)
    throw ApiError.badRequest(`The value '${skip}' is not greater than or equal to 0 for ${what}.`)
  return { limit: limit === 0 ? most : limit, skip }
}

export const flagOf = (query: URLSearchParams, name: string, preset = false): boolean => {
  const text = query.get(name)
  if (text === null || text === '') return preset
  if (text === 'true') return true
  if (text === 'false') return false
  throw ApiError.badRequest(
    `The query parameter '${name}' was malformed: '${text}' is not a valid Boolean value.`,
  )
}

export const numberOf = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name)
  return text === null || text === '' ? undefined : whole(text, name)
}
