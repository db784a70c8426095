import { z } from 'zod'

export const Uuid = z.guid()
export const Timestamp = z.iso.datetime({ offset: true })

/** Some clients send an empty text or null where they mean "not given". */
export const absentWhenEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional())

/** 64-bit integers of the gen-ai API travel as decimal text; a client may send a number. */
export const DecimalText = z
  .union([z.string().regex(/^\d+$/), z.number().int().min(0)])
  .transform(String)

/** The sentence that says which fields of an input are wrong, and what would be right. */
export const issuesOf = (error: z.ZodError, root = ''): string =>
  error.issues.map((issue) => sayIssue(issue, root)).join('; ')

const sayIssue = (issue: z.core.$ZodIssue, root: string): string => {
  const where = issue.path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : text
          ? `${text}.${String(part)}`
          : String(part),
    root,
  )
  return `${where || 'input'} ${fault(issue)}`
}

const fault = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${kinds[issue.expected] ?? `a ${issue.expected}`}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', issue.minimum)}`
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', issue.maximum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return issue.message.startsWith('Invalid ')
        ? `must be a valid ${formats[issue.format] ?? issue.format}`
        : issue.message
    case 'unrecognized_keys':
      return `has no field ${issue.keys.map((key) => `"${key}"`).join(', ')}${
        issue.message.startsWith('Unrecognized') ? '' : `; ${issue.message}`
      }`
    case 'invalid_union':
      return 'has none of the accepted forms'
    default:
      return issue.message
  }
}

const bound = (origin: string, word: string, limit: number | bigint): string => {
  if (origin === 'string') return `have ${word} ${limit} character${limit === 1 ? '' : 's'}`
  if (origin === 'array' || origin === 'set')
    return `have ${word} ${limit} item${limit === 1 ? '' : 's'}`
  return `be ${word} ${limit}`
}

const kinds: Record<string, string> = {
  string: 'text',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const formats: Record<string, string> = {
  guid: 'UUID',
  uuid: 'UUID',
  datetime: 'RFC 3339 time',
  ipv4: 'IPv4 address',
  ipv6: 'IPv6 address',
  url: 'URL',
  email: 'e-mail address',
  regex: 'value',
}
