import { z } from 'zod'
import { ApiError } from '#core/error.ts'

/** Values with a common prefix; callers may leave it out, and need not mind the case. */
export const prefixedChoice = <const V extends readonly [string, ...string[]]>(
  about: string,
  prefix: string,
  values: V,
) => z.preprocess(prefixedWith(prefix, values), z.enum(values)).describe(about)

export const prefixedChoices = <const V extends readonly [string, ...string[]]>(
  about: string,
  prefix: string,
  values: V,
) => z.array(z.preprocess(prefixedWith(prefix, values), z.enum(values))).describe(about)

/** Whichever of both spellings is listed is what comes out. */
const prefixedWith = (prefix: string, values: readonly string[]) => (value: unknown) => {
  if (typeof value !== 'string') return value
  const upper = value.trim().toUpperCase()
  const bare = upper.startsWith(prefix) ? upper.slice(prefix.length) : upper
  return values.find((listed) => listed === bare || listed === prefix + bare) ?? value
}

/** Nothing is sent before the end user has agreed. */
export const confirmed = (argument: string, value: boolean) => {
  if (value) return
  throw ApiError.invalid(
    `${argument} must be true; ask the end user first and set it only when they agree.`,
  )
}
