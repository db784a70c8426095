import { z } from 'zod'
import type { Api } from '#client/client.ts'
import type { Method, Operation, RequestOf, ResultOf } from '#core/operation.ts'

/** What calling a tool does to the cloud. */
export type Effect = 'read' | 'create' | 'change' | 'delete'

/** What a tool may use while it runs. */
export interface ToolContext {
  api: Api
  signal: AbortSignal
  /** Tell the person how far a long call is. */
  progress(done: number, total?: number, message?: string): void
  /** Text shown beside the result. */
  note(text: string): void
  sleep(ms: number): Promise<void>
  /** Plain requests that are not of the v2 API, such as an upload to a presigned address. */
  fetch(request: Request): Promise<Response>
  /** What this tool server remembers between this caller's calls, by topic: caches, never truths. */
  memory: Map<string, unknown>
}

/** A tool describes itself: lists, filters, documents, snapshots and the console read this record. */
export interface Tool {
  readonly title: string
  /** One sentence. */
  readonly about: string
  readonly args: z.ZodObject
  /** Other spellings of arguments that are understood: `{ ID: 'id' }`. */
  readonly spellings?: Readonly<Record<string, string>>
  readonly effect: Effect
  /** Shape of the result where it is known. */
  readonly returns: z.ZodType | undefined
  /** Operations it may use, for scopes and for the list of what is not served yet. */
  readonly uses: readonly Operation[]
  run(args: never, context: ToolContext): Promise<unknown>
}

type Args<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>

interface Described<S extends z.ZodRawShape> {
  title: string
  about: string
  args: S
  spellings?: Readonly<Record<string, string>>
  effect?: Effect
}

const effects: Record<Method, Effect> = {
  GET: 'read',
  POST: 'create',
  PUT: 'change',
  PATCH: 'change',
  DELETE: 'delete',
}

/** A tool that is exactly one operation: arguments in, request out. It has no I/O of its own. */
export const call = <O extends Operation, S extends z.ZodRawShape>(
  operation: O,
  tool: Described<S> & {
    request: (args: Args<S>) => RequestOf<O>
    /** The tool's answer, where it is not the API's as it stands. */
    result?: (answer: ResultOf<O>, args: Args<S>) => unknown
    returns?: z.ZodType
  },
): Tool => {
  const effect = tool.effect ?? effects[operation.method]
  return {
    title: tool.title,
    about: tool.about,
    args: z.strictObject(tool.args),
    ...(tool.spellings ? { spellings: tool.spellings } : {}),
    effect,
    returns: tool.result ? tool.returns : operation.returns,
    uses: [operation],
    run: async (args: Args<S>, { api, signal }) => {
      const request = tool.request(args)
      const answer = await api(operation, request, { signal })
      if (tool.result) return tool.result(answer, args)
      return answer === undefined ? { status: done[effect], ...identity(request) } : answer
    },
  }
}

/** A tool that is several calls, or none. */
export const script = <S extends z.ZodRawShape>(
  tool: Described<S> & {
    effect: Effect
    uses?: readonly Operation[]
    returns?: z.ZodType
    run: (args: Args<S>, context: ToolContext) => Promise<unknown>
  },
): Tool => ({
  title: tool.title,
  about: tool.about,
  args: z.strictObject(tool.args),
  ...(tool.spellings ? { spellings: tool.spellings } : {}),
  effect: tool.effect,
  returns: tool.returns,
  uses: tool.uses ?? [],
  run: tool.run,
})

/** What an empty answer means, in a word. */
const done: Record<Effect, string> = {
  read: 'ok',
  create: 'accepted',
  change: 'updated',
  delete: 'deleted',
}

const identity = (request: { path?: object | undefined }) => request.path ?? {}
