import { z } from 'zod'

/**
 * The vocabulary of tool arguments. Each takes the sentence a model reads. Numbers and flags accept
 * their text form too, since assistants often quote them.
 */
export const text = (about: string) => z.string().min(1).describe(about)

/** Text that may be empty. */
export const anyText = (about: string) => z.string().describe(about)

export const int = (about: string, min?: number, max?: number) =>
  lenient(bounded(z.number().int(), min, max)).describe(about)

export const decimal = (about: string, min?: number, max?: number) =>
  lenient(bounded(z.number(), min, max)).describe(about)

export const flag = (about: string) => lenient(z.boolean()).describe(about)

export const choice = <const T extends readonly [string, ...string[]]>(about: string, values: T) =>
  z.enum(values).describe(about)

export const texts = (about: string, min = 0) => {
  const items = z.array(z.string().min(1))
  return lenient(min > 0 ? items.min(min) : items).describe(about)
}

export const ints = (about: string) => lenient(z.array(z.number().int())).describe(about)

export const list = <T extends z.ZodType>(about: string, item: T) =>
  lenient(z.array(item)).describe(about)

/** A long declaration is published in part, by the fields that are `shown`; an example may say more. */
export const object = <S extends z.ZodRawShape>(
  about: string,
  shape: S,
  shown: Shown<S> = Object.keys(shape),
) => lenient(z.object(shape)).meta({ description: about, shown })

type Shown<S extends z.ZodRawShape> = readonly (keyof S & string)[]

/** An object whose keys the cloud knows better than the tool. */
export const anyObject = (about: string) =>
  lenient(z.record(z.string(), z.unknown())).describe(about)

/** An object of declared fields alone; a stray one is answered with the names there are. */
export const settings = <S extends z.ZodRawShape>(
  about: string,
  shape: S,
  shown: Shown<S> = Object.keys(shape),
) =>
  lenient(
    z
      .strictObject(shape, {
        error: (issue) =>
          issue.code === 'unrecognized_keys'
            ? `its fields: ${Object.keys(shape).join(', ')}`
            : undefined,
      })
      .partial(),
  ).meta({ description: about, shown })

/** A whole number that the published schema calls text, as some arguments are specified. */
export const intText = (about: string, min = 0) =>
  z
    .preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string())
    .refine((value) => /^\d+$/.test(value.trim()) && Number(value) >= min, {
      message: `must be a whole number of at least ${min}`,
    })
    .transform(Number)
    .describe(about)

/** JSON that the published schema calls text. */
export const jsonText = (about: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value),
      z.string(),
    )
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
  PerPage: int('Page size', 1, max).default(perPage),
})

export const pageOf = (args: { Page: number; PerPage: number }) => ({
  page: args.Page,
  per_page: args.PerPage,
})

const bounded = (number: z.ZodNumber, min?: number, max?: number): z.ZodNumber => {
  const above = min === undefined ? number : number.min(min)
  return max === undefined ? above : above.max(max)
}

const lenient = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => natural(value, schema), schema)

/** The value in the types that the schema wants, where a text says it: `"3"`, `"true"`, `"[1]"`. */
const natural = (value: unknown, schema: z.core.$ZodType): unknown => {
  if (schema instanceof z.ZodOptional) return natural(value, schema.unwrap())
  if (schema instanceof z.ZodNumber) return numberFromText(value)
  if (schema instanceof z.ZodBoolean) return flagFromText(value)
  if (schema instanceof z.ZodRecord) return jsonFromText(value)
  if (schema instanceof z.ZodArray) {
    const items = jsonFromText(value)
    return Array.isArray(items) ? items.map((item) => natural(item, schema.element)) : items
  }
  if (!(schema instanceof z.ZodObject)) return value
  const fields = jsonFromText(value)
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([name, part]) => {
      const field = schema.shape[name]
      return [name, field ? natural(part, field) : part]
    }),
  )
}

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
