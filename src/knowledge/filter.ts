import { ApiError } from '#core/error.ts'
import type { Metadata, MetadataValue } from './index/index.ts'

/** A parsed metadata filter. */
export type Filter =
  | { kind: 'all' | 'any'; parts: readonly Filter[] }
  | { kind: 'compare'; operator: Operator; key: string; value: string | number }

type Operator = keyof typeof operators
type Scalar = string | number

const ordered =
  (holds: (order: number) => boolean) =>
  (field: Scalar, value: Scalar): boolean =>
    typeof field === typeof value && holds(field < value ? -1 : field > value ? 1 : 0)

/**
 * Text compares with text and numbers with numbers; two of different type are never equal and have
 * no order. Text is ordered by its code units, so that RFC 3339 times in UTC are in order of time.
 */
const operators = {
  equals: (field: Scalar, value: Scalar) => field === value,
  not_equals: (field: Scalar, value: Scalar) => field === value,
  greater_than: ordered((order) => order > 0),
  greater_than_or_equals: ordered((order) => order >= 0),
  less_than: ordered((order) => order < 0),
  less_than_or_equals: ordered((order) => order <= 0),
  starts_with: (field: Scalar, value: Scalar) =>
    typeof field === 'string' && typeof value === 'string' && field.startsWith(value),
} as const

export const filterOperators = Object.keys(operators) as Operator[]
const groups = { and_all: 'all', or_all: 'any' } as const

export const filterLimits = { depth: 10, nodes: 200, key: 256, value: 4096 } as const

/** Reads the filter an assistant sent; the error's sentence points at the node that is wrong. */
export const parseFilter = (input: unknown, path = 'filters'): Filter => {
  let nodes = 0
  const node = (value: unknown, at: string, depth: number): Filter => {
    if (depth > filterLimits.depth)
      throw ApiError.invalid(`${at} is nested deeper than ${filterLimits.depth} levels.`)
    if (++nodes > filterLimits.nodes)
      throw ApiError.invalid(`${path} has more than ${filterLimits.nodes} conditions.`)
    const entries = Object.entries(record(value, at, 'an object with one operator'))
    const names = entries.map(([name]) => name)
    if (names.includes('and_all') && names.includes('or_all'))
      throw ApiError.invalid(`${at} must not have both and_all and or_all: nest one in the other.`)
    const unknown = names.find((name) => !(name in operators) && !(name in groups))
    if (unknown !== undefined)
      throw ApiError.invalid(
        `${at}.${unknown} is not an operator: use one of ${[...filterOperators, ...Object.keys(groups)].join(', ')}.`,
      )
    const [entry] = entries
    if (!entry || entries.length > 1)
      throw ApiError.invalid(
        `${at} must have exactly one operator, but has ${names.length ? names.join(' and ') : 'none'}.`,
      )
    const [name, content] = entry
    const here = `${at}.${name}`
    if (name in groups) {
      if (!Array.isArray(content)) throw ApiError.invalid(`${here} must be a list of filters.`)
      if (content.length === 0) throw ApiError.invalid(`${here} must have at least one filter.`)
      const parts = content.map((part, index) => node(part, `${here}[${index}]`, depth + 1))
      return { kind: groups[name as keyof typeof groups], parts }
    }
    return comparison(name as Operator, content, here)
  }
  return node(input, path, 1)
}

const comparison = (operator: Operator, content: unknown, at: string): Filter => {
  const { key, value, ...others } = record(content, at, 'an object with key and value')
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw ApiError.invalid(`${at}.${other} is unknown: a comparison has only key and value.`)
  if (typeof key !== 'string' || key === '')
    throw ApiError.invalid(`${at}.key must be the name of a metadata field.`)
  if (key.length > filterLimits.key)
    throw ApiError.invalid(`${at}.key must have at most ${filterLimits.key} characters.`)
  if (operator === 'starts_with' && typeof value !== 'string')
    throw ApiError.invalid(`${at}.value must be text.`)
  if (typeof value !== 'string' && !(typeof value === 'number' && Number.isFinite(value)))
    throw ApiError.invalid(`${at}.value must be text or a number.`)
  if (typeof value === 'string' && value.length > filterLimits.value)
    throw ApiError.invalid(`${at}.value must have at most ${filterLimits.value} characters.`)
  return { kind: 'compare', operator, key, value }
}

const record = (value: unknown, at: string, form: string): Record<string, unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw ApiError.invalid(`${at} must be ${form}.`)
  return value as Record<string, unknown>
}

/**
 * Whether a field's value satisfies a comparison. A list does when one of its items does. A missing
 * field satisfies none, except `not_equals`, which holds wherever `equals` does not.
 */
export const satisfies = (
  operator: Operator,
  field: MetadataValue | undefined,
  value: Scalar,
): boolean => {
  const items = field === undefined ? [] : Array.isArray(field) ? field : [field]
  const found = items.some((item) => operators[operator](item, value))
  return operator === 'not_equals' ? !found : found
}

/** Whether a chunk's metadata satisfies a filter. */
export const matches = (filter: Filter, metadata: Metadata): boolean => {
  switch (filter.kind) {
    case 'all':
      return filter.parts.every((part) => matches(part, metadata))
    case 'any':
      return filter.parts.some((part) => matches(part, metadata))
    case 'compare':
      return satisfies(
        filter.operator,
        Object.hasOwn(metadata, filter.key) ? metadata[filter.key] : undefined,
        filter.value,
      )
  }
}
