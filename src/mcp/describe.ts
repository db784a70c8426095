import { z } from 'zod'
import type { Listed } from './select.ts'
import type { Effect, Tool } from './tool.ts'

type Json = Record<string, unknown>

/** The tool as `tools/list` publishes it: what a model needs to call it right the first time. */
export const describe = (name: string, tool: Tool): Json => {
  const output = outputSchema(tool.returns)
  return {
    name,
    title: tool.title,
    description: tool.about,
    inputSchema: inputSchema(tool.args),
    ...(output ? { outputSchema: output } : {}),
    annotations: hints[tool.effect],
  }
}

/** One service's tools, each rendered once. */
export const listed = (service: string, tools: Record<string, Tool>): Listed[] =>
  Object.entries(tools).map(([name, tool]) => ({
    name,
    service,
    effect: tool.effect,
    uses: tool.uses.map(({ method, path }) => `${method} ${path}`),
    json: JSON.stringify(describe(name, tool)),
  }))

const hints: Record<Effect, Json> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  create: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
  },
  change: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
  },
  delete: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
  },
}

const inputSchema = (args: z.ZodType): Json =>
  tidy(z.toJSONSchema(args, { io: 'input', override: withDefault })) as Json

/** zod leaves the default out where the input is converted before it is checked. */
const withDefault = ({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes
  jsonSchema: Json
}) => {
  const { def } = zodSchema._zod
  if (def.type === 'default') jsonSchema.default = def.defaultValue
}

/** Open and shallow: it names the parts of the answer and promises nothing that the cloud may change. */
const outputSchema = (returns: z.ZodType | undefined): Json | undefined => {
  if (!returns) return undefined
  const { type, properties } = z.toJSONSchema(returns, { io: 'output', unrepresentable: 'any' })
  if (type !== 'object' || !properties) return undefined
  const parts = Object.keys(properties).filter((name) => name !== 'links' && name !== 'meta')
  return { type: 'object', properties: Object.fromEntries(parts.map((name) => [name, {}])) }
}

const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !noise(key, part))
      .map(([key, part]) => [key, tidy(part)]),
  )
}

/** What zod writes and no reader needs. */
const noise = (key: string, part: unknown): boolean =>
  key === '$schema' ||
  key === 'propertyNames' ||
  (key === 'additionalProperties' && (part === false || isEmpty(part))) ||
  (key === 'minLength' && part === 1) ||
  (key === 'minimum' && part === Number.MIN_SAFE_INTEGER) ||
  (key === 'maximum' && part === Number.MAX_SAFE_INTEGER)

const isEmpty = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && Object.keys(part).length === 0
