import { type ApiOptions, createApi } from '#client/client.ts'
import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'
import { adviceFor, restOfList } from './advice.ts'
import { type Audit, withoutSecrets } from './audit.ts'
import { InputRequired } from './protocol.ts'
import { failure, success, type ToolResult } from './results.ts'
import type { Tool } from './tool.ts'

/** A tool by its name; it may be loaded only now. */
export type FindTool = (name: string) => Tool | undefined | Promise<Tool | undefined>

export type Confirm = 'always' | 'destructive' | 'never'

/** One caller's request, as a transport hands it over. */
export interface Caller {
  token: string
  who: string
  signal: AbortSignal
  progress(done: number, total?: number, message?: string): void
  /** Ask the person; undefined where the client cannot. True means yes. */
  confirm?: (question: string) => Promise<boolean>
}

export interface CallSettings extends Omit<ApiOptions, 'token' | 'onNote'> {
  audit: Audit
  confirm: Confirm
  /** Bytes of JSON an answer may have. */
  answerLimit: number
  now: () => number
}

/** Runs tools: checks arguments, asks where it must, calls, records, renders. */
export const createCalls = (find: FindTool, settings: CallSettings) => {
  /** What is remembered for one caller, such as a key of theirs, must never serve another. */
  const memories = new Map<string, Map<string, unknown>>()
  const memoryOf = (token: string) => {
    const memory = memories.get(token) ?? new Map<string, unknown>()
    memories.set(token, memory)
    return memory
  }

  const run = async (name: string, tool: Tool, given: unknown, caller: Caller) => {
    const parsed = tool.args.safeParse(respelled(given ?? {}, tool.spellings))
    if (!parsed.success) throw ApiError.invalid(argumentFault(name, tool, parsed.error))
    if (asks(tool, settings.confirm) && caller.confirm) {
      const yes = await caller.confirm(question(name, tool, parsed.data))
      if (!yes) throw new Refused(`${name} was not run: the person did not agree.`)
    }
    const notes: string[] = []
    const note = (text: string) => notes.push(text)
    const { signal, progress } = caller
    const api = createApi({ ...settings, token: caller.token, onNote: note })
    const value = await tool.run(parsed.data as never, {
      api: (operation, request, options) => api(operation, request, { signal, ...options }),
      signal,
      progress,
      note,
      memory: memoryOf(caller.token),
      sleep: (ms) => sleep(ms, signal),
      fetch: async (request) => settings.fetch(request),
    })
    const rest = restOfList(value, tool, parsed.data)
    return success(value, rest ? [...notes, rest] : notes, settings.answerLimit)
  }

  return async (name: string, given: unknown, caller: Caller): Promise<ToolResult> => {
    const started = settings.now()
    const record = (outcome: 'ok' | 'error' | 'refused', result: ToolResult) => {
      settings.audit.write({
        time: new Date(started).toISOString(),
        who: caller.who,
        tool: name,
        arguments: withoutSecrets(given ?? {}),
        outcome,
        ...(outcome === 'ok' ? {} : { message: result.content[0]?.text ?? '' }),
        duration_ms: settings.now() - started,
      })
      return result
    }
    const tool = await find(name)
    if (!tool) throw new Error(`There is no tool ${name}.`)
    try {
      return record('ok', await run(name, tool, given, caller))
    } catch (error) {
      // The person's answer comes with the next request; this one is not an outcome.
      if (error instanceof InputRequired) throw error
      const advice = await adviceFor(error, name, { find, now: settings.now })
      return record(error instanceof Refused ? 'refused' : 'error', failure(error, advice))
    }
  }
}

/** Arguments under the names the tool publishes; one given under both names stays, and is refused. */
const respelled = (given: unknown, spellings: Tool['spellings'] = {}): unknown => {
  if (typeof given !== 'object' || given === null) return given
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const known = spellings[name]
      return [known !== undefined && !(known in given) ? known : name, value]
    }),
  )
}

class Refused extends Error {}

const asks = (tool: Tool, confirm: Confirm): boolean =>
  confirm === 'always'
    ? tool.effect !== 'read'
    : confirm === 'destructive' && tool.effect === 'delete'

const question = (name: string, tool: Tool, args: unknown): string =>
  `${tool.title}? ${name} will run with ${JSON.stringify(withoutSecrets(args))}.`

const argumentFault = (name: string, tool: Tool, error: Parameters<typeof issuesOf>[0]): string => {
  const known = Object.keys(tool.args.shape)
  const stray = error.issues.some((issue) => issue.code === 'unrecognized_keys')
  const hint = stray ? ` Its arguments: ${known.length > 0 ? known.join(', ') : 'none'}.` : ''
  return `Invalid arguments for ${name}: ${issuesOf(error)}.${hint}`
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
