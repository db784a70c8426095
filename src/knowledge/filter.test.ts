import { expect, test } from 'vitest'
import { seeded } from '../../test/random.ts'
import { type Filter, filterLimits, matches, parseFilter } from './filter.ts'
import { Columns } from './index/columns.ts'
import type { Metadata } from './index/index.ts'

const compare = (operator: string, value: unknown, key = 'page') => ({ [operator]: { key, value } })
const holds = (filter: unknown, metadata: Metadata) => matches(parseFilter(filter), metadata)

test('text compares with text and numbers with numbers', () => {
  expect(holds(compare('equals', 3), { page: 3 })).toBe(true)
  expect(holds(compare('equals', '3'), { page: 3 })).toBe(false)
  expect(holds(compare('greater_than', 2), { page: 3 })).toBe(true)
  expect(holds(compare('greater_than', '2'), { page: 3 })).toBe(false)
  expect(holds(compare('less_than_or_equals', 3), { page: 3 })).toBe(true)
  expect(holds(compare('greater_than_or_equals', '2026-03'), { page: '2026-11-15' })).toBe(true)
  expect(holds(compare('starts_with', 'gui'), { page: 'guide.md' })).toBe(true)
  expect(holds(compare('starts_with', '3'), { page: 3 })).toBe(false)
})

test('a missing field satisfies no comparison but not_equals, which is the opposite of equals', () => {
  for (const operator of ['equals', 'greater_than', 'less_than', 'starts_with'])
    expect(holds(compare(operator, 'a'), {}), operator).toBe(false)
  expect(holds(compare('not_equals', 'a'), {})).toBe(true)
  expect(holds(compare('not_equals', 3), { page: '3' })).toBe(true)
  expect(holds(compare('not_equals', 3), { page: 3 })).toBe(false)
  expect(holds(compare('equals', 'x', 'constructor'), {})).toBe(false)
})

test('a list satisfies what one of its items does', () => {
  const metadata = { tags: ['red', 'green'] }
  expect(holds(compare('equals', 'green', 'tags'), metadata)).toBe(true)
  expect(holds(compare('not_equals', 'green', 'tags'), metadata)).toBe(false)
  expect(holds(compare('not_equals', 'blue', 'tags'), metadata)).toBe(true)
})

test('filters nest', () => {
  const filter = {
    and_all: [
      compare('equals', 'a', 'team'),
      { or_all: [compare('equals', 1), compare('equals', 2)] },
    ],
  }
  expect(holds(filter, { team: 'a', page: 2 })).toBe(true)
  expect(holds(filter, { team: 'a', page: 3 })).toBe(false)
  expect(holds(filter, { team: 'b', page: 1 })).toBe(false)
})

const deep = (levels: number): unknown =>
  levels === 1 ? compare('equals', 1) : { and_all: [deep(levels - 1)] }

test.each([
  ['text', 'filters must be an object with one operator.'],
  [{}, 'filters must have exactly one operator, but has none.'],
  [
    { ...compare('equals', 1), ...compare('less_than', 1) },
    'filters must have exactly one operator, but has equals and less_than.',
  ],
  [
    { and_all: [compare('equals', 1)], or_all: [compare('equals', 1)] },
    'filters must not have both and_all and or_all: nest one in the other.',
  ],
  [{ and_all: [] }, 'filters.and_all must have at least one filter.'],
  [{ or_all: {} }, 'filters.or_all must be a list of filters.'],
  [
    { and_all: [compare('equals', 1), compare('equals', true)] },
    'filters.and_all[1].equals.value must be text or a number.',
  ],
  [
    { and_all: [{ or_all: [compare('starts_with', 1)] }] },
    'filters.and_all[0].or_all[0].starts_with.value must be text.',
  ],
  [{ equals: { key: '', value: 1 } }, 'filters.equals.key must be the name of a metadata field.'],
  [
    { equals: { key: 'a', value: 1, boost: 2 } },
    'filters.equals.boost is unknown: a comparison has only key and value.',
  ],
  [{ equals: 3 }, 'filters.equals must be an object with key and value.'],
  [
    { like: { key: 'a', value: 'b' } },
    'filters.like is not an operator: use one of equals, not_equals, greater_than, greater_than_or_equals, less_than, less_than_or_equals, starts_with, and_all, or_all.',
  ],
])('%j is refused with a sentence that points at the fault', (filter, message) => {
  expect(() => parseFilter(filter)).toThrow(message)
})

test('depth and size are bounded', () => {
  expect(() => parseFilter(deep(filterLimits.depth))).not.toThrow()
  expect(() => parseFilter(deep(filterLimits.depth + 1))).toThrow(
    'is nested deeper than 10 levels.',
  )
  const many = { or_all: Array.from({ length: filterLimits.nodes }, () => compare('equals', 1)) }
  expect(() => parseFilter(many)).toThrow('filters has more than 200 conditions.')
})

/** Small numbers and letters, so that equal values are common. */
const fuzz = (seed: number) => {
  const next = seeded(seed)
  const random = (below: number) => Math.floor(next() * below)
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T
  const scalar = () => pick<string | number>(['', 'a', 'ab', 'abc', 'b', '1', 1, 2, 3, -1, 1.5])
  const metadata = (): Metadata =>
    Object.fromEntries(
      ['x', 'y', 'z'].flatMap((key) =>
        random(3) === 0 ? [] : [[key, random(5) === 0 ? [scalar(), scalar()] : scalar()]],
      ),
    )
  const operators = [
    'equals',
    'not_equals',
    'greater_than',
    'greater_than_or_equals',
    'less_than',
    'less_than_or_equals',
  ]
  const filter = (depth: number): unknown => {
    if (depth > 0 && random(2) === 0)
      return {
        [pick(['and_all', 'or_all'])]: Array.from({ length: 1 + random(3) }, () =>
          filter(depth - 1),
        ),
      }
    const key = pick(['x', 'y', 'z', 'missing'])
    if (random(7) === 0) return { starts_with: { key, value: pick(['', 'a', 'ab']) } }
    return { [pick(operators)]: { key, value: scalar() } }
  }
  return { metadata, filter, random }
}

/** As the specification reads, one chunk at a time; shares no code with the columns. */
const slowly = (filter: unknown, metadata: Metadata): boolean => {
  const [[name, content]] = Object.entries(filter as object) as [[string, never]]
  if (name === 'and_all') return (content as unknown[]).every((part) => slowly(part, metadata))
  if (name === 'or_all') return (content as unknown[]).some((part) => slowly(part, metadata))
  const { key, value } = content as { key: string; value: string | number }
  const field = metadata[key]
  const items = field === undefined ? [] : typeof field === 'object' ? [...field] : [field]
  const equal = items.some((item) => item === value)
  if (name === 'equals') return equal
  if (name === 'not_equals') return !equal
  return items.some((item) => {
    if (typeof item !== typeof value) return false
    if (name === 'starts_with') return String(item).slice(0, String(value).length) === value
    if (name === 'greater_than') return item > value
    if (name === 'greater_than_or_equals') return item >= value
    if (name === 'less_than') return item < value
    return item <= value
  })
}

test('columns find exactly what a slow and obvious reading finds, over 3000 random filters', () => {
  const { metadata, filter, random } = fuzz(42)
  for (let round = 0; round < 60; round++) {
    const rows = Array.from({ length: 40 }, metadata)
    const columns = new Columns()
    for (const [slot, fields] of rows.entries()) columns.set(slot, fields)
    // Some are described anew, some are removed.
    for (const slot of [3, 17]) {
      rows[slot] = metadata()
      columns.set(slot, rows[slot])
    }
    const dead = random(40)
    for (let one = 0; one < 50; one++) {
      const input = filter(3)
      const parsed: Filter = parseFilter(input)
      const found = [...columns.match(parsed, (slot) => slot !== dead).slots]
      const expected = rows.flatMap((fields, slot) =>
        slot !== dead && slowly(input, fields) ? [slot] : [],
      )
      expect(found, JSON.stringify(input)).toEqual(expected)
      expect(rows.map((fields) => matches(parsed, fields))).toEqual(
        rows.map((fields) => slowly(input, fields)),
      )
    }
  }
})
