import type { Caller } from './calls.ts'
import {
  type Context,
  type JsonObject,
  protocolVersions,
  RpcError,
  rendered,
  type ServerSpec,
} from './protocol.ts'
import { failure, type ToolResult } from './results.ts'
import type { Selection, Wish } from './select.ts'

export interface ToolServerOptions {
  selection: Selection
  version: string
  /** Loaded only when a tool is called: listing must not wait for it. */
  calls(): Promise<(name: string, args: unknown, caller: Caller) => Promise<ToolResult>>
  /** Whose token a request acts with, and how the audit names them. */
  identify(
    context: Context,
  ): { token: string; who: string } | Promise<{ token: string; who: string }>
  report(error: unknown): void
}

const instructions =
  'Tools that manage a cloud: accounts, databases, functions, networking, inference routers and evaluations. List before you create; deletions are permanent.'

/** The tool server, for any transport. */
export const toolServer = (options: ToolServerOptions): ServerSpec => {
  const narrowed = new Map<string, Selection>()

  /** Over HTTP a caller may ask for fewer tools by headers. */
  const offered = (headers: Headers | undefined): Selection => {
    const wish = headers && wishOf(headers)
    if (!wish) return options.selection
    const key = JSON.stringify(wish)
    const known = narrowed.get(key)
    if (known) return known
    const selection = narrow(options.selection, wish)
    if (narrowed.size < 1000) narrowed.set(key, selection)
    return selection
  }

  const run = async (name: string, args: unknown, context: Context): Promise<ToolResult> => {
    let call: Awaited<ReturnType<ToolServerOptions['calls']>>
    let who: Awaited<ReturnType<ToolServerOptions['identify']>>
    try {
      call = await options.calls()
      who = await options.identify(context)
    } catch (error) {
      return failure(error) // There is no cloud to call; the person is told why.
    }
    return call(name, args, {
      ...who,
      signal: context.signal,
      progress: context.progress,
      ...(context.canElicit ? { confirm: (question) => confirmed(context, question) } : {}),
    })
  }

  return {
    info: { name: 'cove', title: 'Cove', version: options.version },
    instructions,
    versions: protocolVersions,
    capabilities: { tools: {} },
    cache: { 'tools/list': { ttlMs: 3_600_000, cacheScope: 'private' } },
    report: options.report,
    methods: {
      'tools/list': (_params, context) => rendered(offered(context.headers).json),
      'tools/call': async (params, context) => {
        const { name } = params
        if (typeof name !== 'string')
          throw new RpcError('invalidParams', 'params.name must be text.')
        checkOffered(offered(context.headers), options.selection, name)
        return (await run(name, params.arguments, context)) as unknown as JsonObject
      },
    },
  }
}

const checkOffered = (selection: Selection, all: Selection, name: string) => {
  if (selection.tools.has(name)) return
  const why = selection.whyNot(name) ?? all.whyNot(name)
  throw new RpcError(
    'invalidParams',
    why ?? `Unknown tool "${name}". tools/list names the tools of this server.`,
  )
}

const narrow = (selection: Selection, wish: Wish): Selection => {
  try {
    return selection.narrow(wish)
  } catch (error) {
    throw new RpcError('invalidParams', error instanceof Error ? error.message : String(error))
  }
}

const wishOf = (headers: Headers): Wish | undefined => {
  const list = (name: string) =>
    headers
      .get(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter(Boolean)
  const services = list('x-cove-services')
  const tools = list('x-cove-tools')
  const excludeTools = list('x-cove-exclude-tools')
  const readOnly = headers.get('x-cove-read-only')
  if (!services && !tools && !excludeTools && readOnly === null) return undefined
  if (readOnly !== null && readOnly !== 'true' && readOnly !== 'false') {
    throw new RpcError(
      'invalidParams',
      `The header x-cove-read-only must be true or false, not "${readOnly}".`,
    )
  }
  return {
    ...(services ? { services } : {}),
    ...(tools ? { tools } : {}),
    ...(excludeTools ? { excludeTools } : {}),
    readOnly: readOnly === 'true',
  }
}

const confirmed = async (context: Context, question: string): Promise<boolean> => {
  const answer = await context.elicit(question, {
    type: 'object',
    properties: { confirm: { type: 'boolean', title: 'Go ahead', default: false } },
    required: ['confirm'],
  })
  return answer.action === 'accept' && answer.content?.confirm === true
}
