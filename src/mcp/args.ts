import { z } from 'zod'

/**
 * The vocabulary of tool arguments. Each takes the sentence a model reads. Numbers and flags accept
 * their text form too, since assistants often quote them.
 */
export const text = (about: string) => z.string().min(1).describe(about)

/** Text that may be empty. */
export const anyText = (about: string) => z.string().describe(about)

export const int = (about: string, min?: number, max?: number) => {
  let number = z.number().int()
  if (min !== undefined) number = number.min(min)
  if (max !== undefined) number = number.max(max)
  return z.preprocess(numberFromText, number).describe(about)
}

export const decimal = (about: string, min?: number, max?: number) => {
  let number = z.number()
  if (min !== undefined) number = number.min(min)
  if (max !== undefined) number = number.max(max)
  return z.preprocess(numberFromText, number).describe(about)
}

export const flag = (about: string) => z.preprocess(flagFromText, z.boolean()).describe(about)

export const choice = <const T extends readonly [string, ...string[]]>(about: string, values: T) =>
  z.enum(values).describe(about)

export const texts = (about: string, min?: number) => {
  const items = z.array(z.string().min(1))
  return z.preprocess(listFromText, min === undefined ? items : items.min(min)).describe(about)
}

export const ints = (about: string) =>
  z
    .preprocess(listFromText, z.array(z.preprocess(numberFromText, z.number().int())))
    .describe(about)

export const list = <T extends z.ZodType>(about: string, item: T) =>
  z.preprocess(jsonFromText, z.array(item)).describe(about)

export const object = <S extends z.ZodRawShape>(about: string, shape: S) =>
  z.preprocess(jsonFromText, z.object(shape)).describe(about)

/** An object whose keys the cloud knows better than the tool. */
export const anyObject = (about: string) =>
  z.preprocess(jsonFromText, z.record(z.string(), z.unknown())).describe(about)

/** An object of declared fields alone; a stray one is answered with the names there are. */
export const settings = <S extends z.ZodRawShape>(about: string, shape: S) =>
  z
    .preprocess(
      (value) => naturalFields(jsonFromText(value), shape),
      z
        .strictObject(shape, {
          error: (issue) =>
            issue.code === 'unrecognized_keys'
              ? `its fields: ${Object.keys(shape).join(', ')}`
              : undefined,
        })
        .partial(),
    )
    .describe(about)

const naturalFields = (value: unknown, shape: z.ZodRawShape): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      const field = shape[name]
      if (field instanceof z.ZodNumber) return [name, numberFromText(part)]
      return [name, field instanceof z.ZodBoolean ? flagFromText(part) : part]
    }),
  )
}

/** A whole number that the published schema calls text, as some arguments are specified. */
export const intText = (about: string, min = 0) =>
  z
    .preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string())
    .refine((value) => /^\d+$/.test(value.trim()) && Number(value) >= min, {
      message: `must be a whole number of at least ${min}`,
    })
    .transform(Number)
    .describe(about)

/** true or false that the published schema calls text. */
export const flagText = (about: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'boolean' ? String(value) : value),
      z.enum(['true', 'false']),
    )
    .transform((value) => value === 'true')
    .describe(about)

/** Items separated by commas, as one text. */
export const commaList = (about: string) =>
  z
    .preprocess((value) => (Array.isArray(value) ? value.join(',') : value), z.string())
    .transform((value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .describe(about)

/** `Page` and `PerPage`. */
export const paging = (perPage: number, max = 200) => ({
  Page: int('Page number', 1).default(1),
  PerPage: int('Items per page', 1, max).default(perPage),
})

export const pageOf = (args: { Page: number; PerPage: number }) => ({
  page: args.Page,
  per_page: args.PerPage,
})

const numberFromText = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value

const flagFromText = (value: unknown): unknown =>
  value === 'true' ? true : value === 'false' ? false : value

const jsonFromText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value // The schema then says what it should have been.
  }
}

const listFromText = (value: unknown): unknown =>
  typeof value === 'string' && value.trim().startsWith('[') ? jsonFromText(value) : value
