import { ApiError, messageOf } from '#core/error.ts'

export interface ToolResult {
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: true
}

/** Formatted JSON for people and models, the same as structured content for programs. */
export const success = (value: unknown, notes: readonly string[], limit: number): ToolResult => {
  const whole = asObject(value)
  const formatted = JSON.stringify(whole, null, 2)
  const { kept, cut } =
    formatted.length <= limit ? { kept: whole, cut: undefined } : withinLimit(whole, limit)
  const text = kept === whole ? formatted : JSON.stringify(kept, null, 2)
  const texts = [text, ...notes.map((note) => `Note: ${note}`)]
  if (cut) texts.push(`Note: ${cut}`)
  return {
    content: texts.map((each) => ({ type: 'text', text: each })),
    structuredContent: kept,
  }
}

/** The message, what is known of the failed request, and what to do next. */
export const failure = (error: unknown, advice?: string): ToolResult => ({
  content: [explain(error), ...(advice ? [advice] : [])].map((text) => ({ type: 'text', text })),
  isError: true,
})

const explain = (error: unknown): string => {
  if (!(error instanceof ApiError)) return messageOf(error)
  const facts = [`HTTP ${error.status} ${error.id}`]
  if (error.requestId) facts.push(`request ${error.requestId}`)
  return `${error.message}\n(${facts.join(', ')})`
}

const asObject = (value: unknown): Record<string, unknown> => {
  if (Array.isArray(value)) return { items: value, count: value.length }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  return { result: value ?? null }
}

/** Cut at item boundaries until the text fits; the JSON stays whole. */
const withinLimit = (value: Record<string, unknown>, limit: number) => {
  const size = JSON.stringify(value).length
  if (size <= limit) return { kept: value, cut: undefined }
  const longest = longestList(value, [])
  if (!longest || longest.items.length < 2) {
    const { kept, dropped } = shortenText(value, limit)
    return {
      kept,
      cut: `${dropped} characters of long texts were left out to keep the answer under ${limit} bytes.`,
    }
  }
  let budget = limit - (size - JSON.stringify(longest.items).length)
  let keep = 0
  while (keep < longest.items.length) {
    budget -= JSON.stringify(longest.items[keep]).length + 1
    if (budget < 0) break
    keep++
  }
  keep = Math.max(1, keep)
  const total = longest.items.length
  return {
    kept: withList(value, longest.path, longest.items.slice(0, keep)),
    cut: `${longest.path.join('.')} holds the first ${keep} of ${total} items, to keep the answer under ${limit} bytes. Ask for fewer per page, or for single items.`,
  }
}

interface FoundList {
  path: string[]
  items: unknown[]
}

const longestList = (value: unknown, path: string[]): FoundList | undefined => {
  if (Array.isArray(value)) return { path, items: value }
  if (typeof value !== 'object' || value === null) return undefined
  let best: FoundList | undefined
  for (const [key, part] of Object.entries(value)) {
    const found = longestList(part, [...path, key])
    if (found && (!best || weight(found) > weight(best))) best = found
  }
  return best
}

const weight = (list: FoundList): number => JSON.stringify(list.items).length

const withList = (
  value: Record<string, unknown>,
  path: string[],
  items: unknown[],
): Record<string, unknown> => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const inner = value[key] as Record<string, unknown>
  return { ...value, [key]: rest.length === 0 ? items : withList(inner, rest, items) }
}

const shortenText = (value: Record<string, unknown>, limit: number) => {
  let dropped = 0
  const shorten = (part: unknown): unknown => {
    if (typeof part === 'string' && part.length > limit / 4) {
      const keep = Math.floor(limit / 4)
      dropped += part.length - keep
      return `${part.slice(0, keep)}… (${part.length - keep} more characters)`
    }
    if (Array.isArray(part)) return part.map(shorten)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, shorten(inner)]))
  }
  return { kept: shorten(value) as Record<string, unknown>, dropped }
}
