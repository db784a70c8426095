import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { describe as published } from '#mcp/describe.ts'
import { allTools, catalogue } from '#services/catalogue.ts'
import { spec } from './spec.ts'
import type { Argument, Arguments } from './words.ts'

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: string[]
  default?: unknown
  minimum?: number
  maximum?: number
  minItems?: number
}

const rows = Object.values(spec).flatMap((tools) => Object.entries(tools))
const toolOf = (name: string) => {
  const tool = allTools[name]
  if (!tool) throw new Error(`There is no tool ${name}.`)
  return tool
}
const schemaOf = (name: string) => published(name, toolOf(name)).inputSchema as Schema

test('every service has exactly the tools of the specification', () => {
  const names = (of: Record<string, object>) =>
    Object.fromEntries(Object.entries(of).map(([key, tools]) => [key, Object.keys(tools).sort()]))
  expect(names(catalogue)).toEqual(names(spec))
  expect(
    Object.fromEntries(Object.entries(spec).map(([k, v]) => [k, Object.keys(v).length])),
  ).toEqual({
    accounts: 10,
    databases: 38,
    functions: 26,
    networking: 54,
    'genai-inferencerouter': 6,
    'genai-evaluation': 20,
  })
})

describe.each(rows)('%s', (name, args) => {
  test('has the arguments of the specification', () => {
    const { properties = {}, required = [] } = schemaOf(name)
    expect(Object.keys(properties).sort()).toEqual(Object.keys(args).sort())
    expect([...required].sort()).toEqual(requiredOf(args))
    for (const [argument, wanted] of Object.entries(args)) {
      const part = properties[argument] ?? {}
      compare(part, wanted, `${name} ${argument}`)
      // What only the platform knows better may be narrower than the specification; defaults are not.
      expect(part.default, `${name} ${argument} default`).toEqual(wanted.default)
    }
  })

  test('takes text and the natural type alike', () => {
    const { shape } = toolOf(name).args
    for (const [argument, wanted] of Object.entries(args))
      for (const [given, alike] of alikes(wanted))
        expect(parse(shape[argument], alike), `${name} ${argument}`).toEqual(
          parse(shape[argument], given),
        )
  })
})

test('a topic can be changed in all that it can be created with', () => {
  const fields = Object.keys(spec.databases?.['db-cluster-create-topic']?.config?.fields ?? {})
  expect(fields).toHaveLength(22)
  const { config } = toolOf('db-cluster-update-topic').args.shape
  expect(strays(config, fields)).toEqual([])
  expect(strays(config, ['no_such_field'])).toHaveLength(1)
})

test('an earlier listing spells the identifier of SQL tools in capitals', () => {
  for (const name of rows
    .map(([name]) => name)
    .filter((name) => /mysql-config|sql-mode/.test(name)))
    expect(toolOf(name).spellings).toEqual({ ID: 'id' })
})

const requiredOf = (args: Arguments): string[] =>
  Object.keys(args)
    .filter((name) => args[name]?.required)
    .sort()

const compare = (schema: Schema, wanted: Argument, where: string): void => {
  const { items } = schema
  if (wanted.type) expect(kindOf(schema), `${where} type`).toBe(wanted.type)
  const choices = schema.enum ?? items?.enum
  if (wanted.values) expect(choices?.toSorted(), where).toEqual(wanted.values.toSorted())
  if (choices) expect(choices, where).toEqual(expect.arrayContaining([...(wanted.examples ?? [])]))
  if (wanted.min !== undefined) expect(schema.minimum, where).toBe(wanted.min)
  if (wanted.max !== undefined) expect(schema.maximum, where).toBe(wanted.max)
  if (wanted.minItems !== undefined) expect(schema.minItems, where).toBe(wanted.minItems)
  const { properties = {}, required = [] } = items ?? schema
  if (!wanted.fields) return
  for (const [field, inner] of Object.entries(wanted.fields)) {
    expect(properties, where).toHaveProperty([field])
    compare(properties[field] ?? {}, inner, `${where}.${field}`)
  }
  expect(required, where).toEqual(expect.arrayContaining(requiredOf(wanted.fields)))
}

const kindOf = ({ type, items }: Schema): string | undefined => {
  if (type === 'array') return `${items ? kindOf(items) : 'any'}[]`
  return type === 'integer' ? 'number' : type
}

/** Pairs of values that must be understood as the same. */
const alikes = ({ type, means, min, max }: Argument): [unknown, unknown][] => {
  if (type === 'number') {
    const value = Math.max(min ?? 7, Math.min(7, max ?? 7))
    return [[value, String(value)]]
  }
  if (type === 'boolean') return [true, false].map((value) => [value, String(value)])
  if (means === 'number') return [['7', 7]]
  if (means === 'boolean') return [['true', true]]
  if (means === 'list') return [['ANSI, TRADITIONAL', ['ANSI', 'TRADITIONAL']]]
  if (means === 'json')
    return [
      ['[]', []],
      ['{"a":1}', { a: 1 }],
    ]
  return []
}

/** What a validator says of names that it does not know. */
const strays = (schema: z.core.$ZodType | undefined, names: readonly string[]) =>
  z
    .safeParse(schema as z.ZodType, Object.fromEntries(names.map((name) => [name, undefined])))
    .error?.issues.filter(({ code }) => code === 'unrecognized_keys') ?? []

const parse = (schema: z.core.$ZodType | undefined, value: unknown): unknown =>
  (schema as z.ZodType).parse(value)
