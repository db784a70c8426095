import { ApiError, messageOf } from '#core/error.ts'
import type { Tool } from '#mcp/tool.ts'

/** The failure of an evaluation tool: an object with `error`, and facts that help to go on. */
export class StepFailure extends Error {
  constructor(sentence: string, facts: Record<string, unknown> = {}, cause?: unknown) {
    super(JSON.stringify({ error: sentence, ...facts }, null, 2), { cause })
  }
}

/** `failed to <doing>: <cause>` for whatever the work throws. */
export const failing = async <R>(doing: string, work: () => Promise<R>): Promise<R> => {
  try {
    return await work()
  } catch (error) {
    throw new StepFailure(`failed to ${doing}: ${causeOf(error)}`, {}, error)
  }
}

/** A tool whose failures name what it was doing. */
export const named = (doing: string, tool: Tool): Tool => ({
  ...tool,
  run: (args, context) => failing(doing, () => tool.run(args, context)),
})

/** The numbered steps of a workflow: a failure says in which it happened. */
export const workflow = () => {
  const facts: Record<string, unknown> = {}
  return {
    /** What exists by now, told beside a later failure. */
    facts,
    step: async <R>(number: number, work: () => Promise<R>): Promise<R> => {
      try {
        return await work()
      } catch (error) {
        throw new StepFailure(`step ${number}: ${causeOf(error)}`, facts, error)
      }
    },
  }
}

const causeOf = (error: unknown): string => {
  // Without a request there was none: the fault was found here.
  if (!(error instanceof ApiError) || !error.requestId) return messageOf(error)
  return `${error.message} (HTTP ${error.status} ${error.id}, request ${error.requestId})`
}
