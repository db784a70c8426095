type Node = Record<string, unknown>

/**
 * How a body is filled in: with all that is described, with no more than must be there, or with
 * what a client may not expect: nulls where they are allowed, and fields it has never heard of.
 */
export type Style = 'full' | 'bare' | 'odd'

export const stamp = '2026-01-02T03:04:05Z'
export const uuid = '11111111-2222-4333-8444-555555555555'

/** A field that no description has. */
export const unknownField = { x_added_later: 'kept' }

/** A value that fits a JSON Schema (or one of OpenAPI 3.0). */
export const sample = (
  schema: Node,
  style: Style,
  look: (reference: string) => Node,
  depth = 0,
): unknown => {
  const inner = (part: unknown) => sample((part ?? {}) as Node, style, look, depth + 1)
  if (typeof schema.$ref === 'string') return sample(look(schema.$ref), style, look, depth)
  if (style === 'odd' && isNullable(schema)) return null
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum))
    return schema.example ?? schema.enum.find((value) => value !== null)
  for (const key of ['oneOf', 'anyOf'] as const) {
    const forms = schema[key] as Node[] | undefined
    if (forms) return merged([inner(forms.find(({ type }) => type !== 'null')), own(schema, inner)])
  }
  // A null must be allowed by every part, which few descriptions mean.
  if (Array.isArray(schema.allOf)) {
    const parts = schema.allOf as Node[]
    const whole = (part: Node) => sample(part, style === 'odd' ? 'full' : style, look, depth + 1)
    const all = merged([...parts.map(whole), own(schema, inner)])
    return style === 'odd' && isObject(all) ? { ...all, ...unknownField } : all
  }
  const type = Array.isArray(schema.type)
    ? schema.type.find((name) => name !== 'null')
    : schema.type
  if (type === 'object' || schema.properties) return depth > 12 ? {} : object(schema, style, inner)
  if (type === 'array') return array(schema, style, inner)
  if (type === 'integer' || type === 'number') return number(schema)
  if (type === 'boolean') return schema.example ?? true
  return type === 'string' ? text(schema) : 'anything'
}

const isNullable = ({ nullable, type, anyOf }: Node): boolean =>
  (nullable === true && type !== undefined) ||
  (Array.isArray(type) && type.includes('null')) ||
  (Array.isArray(anyOf) && anyOf.some((form) => form.type === 'null'))

const own = (schema: Node, inner: (part: unknown) => unknown): unknown =>
  schema.properties ? inner({ properties: schema.properties, required: schema.required }) : {}

const merged = (parts: unknown[]): unknown => {
  const whole = parts.filter((part) => isObject(part) && Object.keys(part).length > 0)
  return whole.length > 0 ? Object.assign({}, ...whole) : (parts[0] ?? {})
}

const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const object = (schema: Node, style: Style, inner: (part: unknown) => unknown): Node => {
  const required = (schema.required ?? []) as string[]
  const fields = Object.entries((schema.properties ?? {}) as Node)
    .filter(([name]) => style !== 'bare' || required.includes(name))
    .map(([name, part]) => [name, inner(part)])
  const open = style === 'odd' && schema.additionalProperties === undefined
  return { ...Object.fromEntries(fields), ...(open ? unknownField : {}) }
}

const array = ({ items, minItems }: Node, style: Style, inner: (part: unknown) => unknown) => {
  const count = Math.max(Number(minItems ?? 0), style === 'bare' ? 0 : 1)
  return Array.from({ length: count }, () => inner(items))
}

const number = ({ minimum = 1, maximum = Number.MAX_VALUE, example }: Node): number =>
  typeof example === 'number' ? example : Math.min(Math.max(Number(minimum), 1), Number(maximum))

const formats: Record<string, string> = {
  uuid,
  'date-time': stamp,
  date: '2026-01-02',
  ipv4: '192.0.2.10',
  ipv6: '2001:db8::10',
  uri: 'https://files.example/x',
  email: 'ada@example.com',
}

const guesses = [
  'text',
  'host.example.com',
  '1',
  uuid,
  stamp,
  '192.0.2.0/24',
  'a'.repeat(40),
  'https://x.example',
  '',
]

const text = ({ format, pattern, example, minLength = 0 }: Node): string => {
  const fits = (guess: unknown): guess is string =>
    typeof guess === 'string' &&
    guess.length >= Number(minLength) &&
    (!pattern || new RegExp(String(pattern)).test(guess))
  return (
    [example, formats[String(format)], ...guesses].find(fits) ??
    'text'.padEnd(Number(minLength), 'x')
  )
}
