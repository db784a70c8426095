import { ApiError } from '#core/error.ts'
import type { Tool } from './tool.ts'

/** What to do next about a failed call, where we know. */
export const adviceFor = async (
  error: unknown,
  tool: string,
  known: { find: (name: string) => unknown; now: () => number },
): Promise<string | undefined> => {
  const refused = error instanceof Error && error.cause instanceof ApiError ? error.cause : error
  if (!(refused instanceof ApiError)) return undefined
  const { status, scope, retryAfter } = refused
  if (status === 401) return 'Check the token that the tool server is configured with.'
  if (status === 403 && scope) return `The call needs a token with the scope ${scope}.`
  if (status === 429 && retryAfter !== undefined) {
    const at = new Date(known.now() + retryAfter * 1000).toISOString()
    return `The rate limit lets this call through again in ${Math.ceil(retryAfter)} s, at ${at}.`
  }
  if (status !== 404) return undefined
  const list = await listTool(tool, known.find)
  return `${list ?? 'The matching list tool'} shows the ids and names that exist.`
}

/** `functions-get-action` → `functions-list-actions`, `domain-record-get` → `domain-record-list`. */
const listTool = async (
  tool: string,
  find: (name: string) => unknown,
): Promise<string | undefined> => {
  const words = tool.split('-')
  for (let count = words.length - 1; count > 0; count--) {
    const family = words.slice(0, count).join('-')
    for (const name of [`${family}-list-${words.at(-1)}s`, `${family}-list`])
      if (name !== tool && (await find(name))) return name
  }
  return undefined
}

/** How to get the rest of a list, where there is more than this answer holds. */
export const restOfList = (
  value: unknown,
  tool: Tool,
  args: Record<string, unknown>,
): string | undefined => {
  const { meta, ...parts } = (value ?? {}) as { meta?: { total?: unknown } }
  const items = Object.values(parts).find(Array.isArray)
  if (!items) return undefined
  if ('Skip' in tool.args.shape) {
    const next = Number(args.Skip ?? 0) + items.length
    const full = items.length > 0 && items.length === (args.Limit || longestList)
    return full ? `There may be more: Skip ${next} has the next.` : undefined
  }
  const { Page, PerPage, page = Page, per_page = PerPage } = args
  const current = Number(page ?? 1)
  const size = Number(per_page ?? items.length)
  const name = ['Page', 'page'].find((known) => known in tool.args.shape)
  const total = Number(meta?.total)
  if (!name || !(total > (current - 1) * size + items.length)) return undefined
  return `${items.length} of ${total} are shown: ${name} ${current + 1} has the next.`
}

/** What the data plane gives for a limit of 0. */
const longestList = 200
