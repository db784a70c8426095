import { z } from 'zod'
import type { Listed } from './select.ts'
import type { Effect, Tool } from './tool.ts'

type Json = Record<string, unknown>

/** The tool as `tools/list` publishes it: what a model needs to call it right the first time. */
export const describe = (name: string, tool: Tool): Json => {
  const output = outputSchema(tool.returns)
  return {
    name,
    description: tool.about,
    inputSchema: inputSchema(tool.args),
    ...(output ? { outputSchema: output } : {}),
    annotations: hints[tool.effect],
    // Here it costs a model fewer tokens than beside the name.
    title: tool.title,
  }
}

/** One service's tools, each rendered once. */
export const listed = (service: string, tools: Record<string, Tool>): Listed[] =>
  Object.entries(tools).map(([name, tool]) => ({
    name,
    service,
    effect: tool.effect,
    uses: tool.uses.map(({ method, path }) => `${method} ${path}`),
    json: ascii(JSON.stringify(describe(name, tool))),
  }))

/** Text of one byte a character is sent without being converted, every time the list is asked for. */
const ascii = (json: string): string =>
  json.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

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

const inputSchema = (args: z.ZodObject): Json => {
  const schema = tidy(z.toJSONSchema(args, { io: 'input', override: complete })) as Json
  // zod takes what is converted before it is checked for optional.
  const required = Object.keys(args.shape).filter((name) => !isOptional(args.shape[name]))
  return required.length > 0 ? { ...schema, required } : schema
}

const isOptional = (field: z.core.$ZodType | undefined): boolean =>
  field !== undefined && z.safeParse(field, undefined).success

const complete = ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }) => {
  const { def } = zodSchema._zod
  // For the same reason it leaves out the default.
  if (def.type === 'default') jsonSchema.default = def.defaultValue
  const { shown, properties } = jsonSchema
  if (!Array.isArray(shown)) return
  delete jsonSchema.shown
  delete jsonSchema.properties
  if (shown.length > 0) jsonSchema.properties = pick(properties as Json, shown)
}

const pick = (from: Json, names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, from[name]]))

/** Open and shallow: it names the parts of the answer and promises nothing that the cloud may change. */
const outputSchema = (returns: z.ZodType | undefined): Json | undefined => {
  if (!returns) return undefined
  const { type, properties } = z.toJSONSchema(returns, { io: 'output', unrepresentable: 'any' })
  if (type !== 'object' || !properties) return undefined
  const parts = Object.keys(properties).filter((name) => name !== 'links' && name !== 'meta')
  // One part is what the tool was called for; more than an envelope has is the record itself.
  if (parts.length < 2 || parts.length > 4) return { type: 'object' }
  return { type: 'object', properties: Object.fromEntries(parts.map((name) => [name, {}])) }
}

const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !noise(key, part, value as Json))
      .map(([key, part]) => [key, tidy(part)]),
  )
}

/** What zod writes and no reader needs: the refusal of a wrong value says it in words. */
const noise = (key: string, part: unknown, { maximum }: Json): boolean =>
  ['$schema', 'propertyNames', 'minLength', 'maxLength', 'pattern'].includes(key) ||
  (key === 'additionalProperties' && (part === false || isEmpty(part))) ||
  (key === 'maximum' && isHuge(part)) ||
  // Counts begin at 0 or 1; only together with an upper bound it is a range.
  (key === 'minimum' && (isHuge(part) || part === 1 || (part === 0 && isHuge(maximum))))

const isHuge = (bound: unknown): boolean =>
  typeof bound !== 'number' || Math.abs(bound) >= 2_147_483_647

const isEmpty = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && Object.keys(part).length === 0
