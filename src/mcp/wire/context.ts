import type { Auth, Context, JsonObject } from '#mcp/protocol.ts'
import { readElicited } from '#mcp/wire/form.ts'
import type { RequestMessage } from '#mcp/wire/message.ts'
import { notification } from '#mcp/wire/pending.ts'
import { type Asking, canAsk, cannotAsk } from '#mcp/wire/question.ts'
import { metaOf, type Peer } from '#mcp/wire/version.ts'

/** One request on its way, as its transport knows it. */
export interface Call extends Peer {
  auth?: Auth | undefined
  headers?: Headers
  signal: AbortSignal
  /** Takes messages to the client until the request is answered. */
  send(text: string): void
}

/** What a handler sees of the request it serves. */
export const createContext = (request: RequestMessage, call: Call, asking: Asking): Context => {
  const { version, client, signal } = call
  const meta = metaOf(request.params)
  const { progressToken } = meta
  let furthest = Number.NEGATIVE_INFINITY

  const notify: Context['notify'] = (method, params) => {
    if (!signal.aborted) call.send(notification(method, params))
  }
  const asked = (method: string): Asking => {
    if (canAsk(method, version, client)) return asking
    throw cannotAsk(method, version)
  }
  return {
    ...call,
    id: request.id,
    meta,
    notify,
    progress(done, total, message) {
      if (progressToken === undefined || done <= furthest) return
      furthest = done
      notify('notifications/progress', { progressToken, progress: done, total, message })
    },
    canElicit: canAsk('elicitation/create', version, client),
    elicit: async (message, requestedSchema, key) => {
      const read = (answer: JsonObject) => readElicited(answer, requestedSchema)
      const form = { message, requestedSchema }
      return asked('elicitation/create').ask('elicitation/create', form, read, key)
    },
    ask: async (method, params, key) => asked(method).ask(method, params, (answer) => answer, key),
  }
}
