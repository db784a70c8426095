import { describe } from '#mcp/describe.ts'
import type { Effect, Tool } from '#mcp/tool.ts'

interface Schema {
  type?: string
  description?: string
  enum?: string[]
  default?: unknown
  minimum?: number
  maximum?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

const effects: Record<Effect, string> = {
  read: 'reads',
  create: 'creates',
  change: 'changes',
  delete: '**deletes**',
}

/** The reference page of one service, from what its tools publish. */
export const toolPage = (service: string, tools: Record<string, Tool>): string =>
  `${[
    `# Tools of the service \`${service}\``,
    `${Object.keys(tools).length} tools. Arguments in **bold** are required. This page is made from the catalogue by \`node scripts/docs.mjs\`.`,
    table(
      ['Tool', 'What it does', ''],
      Object.entries(tools).map(([name, { about, effect }]) => [
        hasArguments(tools, name) ? `[${name}](#${name})` : name,
        about,
        effects[effect],
      ]),
    ),
    ...Object.keys(tools)
      .filter((name) => hasArguments(tools, name))
      .map((name) => section(name, inputOf(name, tools[name]))),
  ].join('\n\n')}\n`

const inputOf = (name: string, tool: Tool | undefined): Schema =>
  tool ? (describe(name, tool).inputSchema as Schema) : {}

const hasArguments = (tools: Record<string, Tool>, name: string): boolean =>
  Object.keys(inputOf(name, tools[name]).properties ?? {}).length > 0

const section = (name: string, schema: Schema): string =>
  `## ${name}\n\n${table(['Argument', 'Type', 'Meaning'], rows(schema, ''))}`

const rows = (schema: Schema, path: string): string[][] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const full = `\`${path}${name}\``
    const inner = part.items?.properties ? part.items : part
    const below = `${path}${name}${part.items ? '[]' : ''}.`
    return [
      [schema.required?.includes(name) ? `**${full}**` : full, typeOf(part), meaningOf(part)],
      ...rows(inner, below),
    ]
  })

const typeOf = (part: Schema): string => {
  if (part.type === 'array') return `list of ${part.items ? typeOf(part.items) : 'anything'}`
  if (part.enum) return part.enum.map((value) => `\`${value}\``).join(', ')
  const { minimum, maximum } = part
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ]
  const range =
    minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : bounds
  return [part.type ?? 'anything', ...range].join(', ')
}

const meaningOf = ({ description = '', default: value }: Schema): string =>
  [description, ...(value === undefined ? [] : [`(default \`${String(value)}\`)`])].join(' ').trim()

const table = (head: string[], body: string[][]): string =>
  [head, head.map(() => '---'), ...body]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
