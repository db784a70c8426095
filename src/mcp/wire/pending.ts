import { type JsonObject, RpcError } from '#mcp/protocol.ts'
import type { Id, ResponseMessage } from '#mcp/wire/message.ts'
import type { Asking } from '#mcp/wire/question.ts'

/** The line a question goes out on. */
export interface Line {
  principal: string | undefined
  signal: AbortSignal
  send(text: string): void
}

/**
 * Questions of the handshake revisions: requests of ours that the client answers while the handler
 * waits. Ids cannot be guessed, and only the principal that was asked may answer.
 */
export class Pending {
  #open = new Map<Id, { principal: string | undefined; settle(answer: ResponseMessage): void }>()
  #patience: number

  /** `patience`: milliseconds a person may take to answer. */
  constructor(patience: number) {
    this.#patience = patience
  }

  on = (line: Line): Asking => ({
    ask: async (method, params, read) => {
      const answer = await this.#exchange(method, params, line)
      const value = read(answer)
      if (typeof value !== 'string') return value
      throw new RpcError('invalidParams', `The answer to ${method} cannot be used: ${value}.`)
    },
  })

  settle(answer: ResponseMessage, principal: string | undefined): void {
    const question = this.#open.get(answer.id)
    if (question?.principal === principal) question?.settle(answer)
  }

  /** Nobody is left to answer. */
  abandon(): void {
    const error = { message: 'it has gone' }
    for (const [id, { settle }] of this.#open) settle({ kind: 'response', id, error })
  }

  async #exchange(method: string, params: JsonObject, line: Line): Promise<JsonObject> {
    const id = crypto.randomUUID()
    const cleanUp: (() => void)[] = [() => this.#open.delete(id)]
    try {
      const { result, error } = await new Promise<ResponseMessage>((settle, reject) => {
        const withdraw = (reason: string) => {
          line.send(notification('notifications/cancelled', { requestId: id, reason }))
          reject(new RpcError('internal', reason))
        }
        const gone = () => withdraw('The request was cancelled.')
        const late = setTimeout(withdraw, this.#patience, `Nobody answered ${method} in time.`)
        line.signal.addEventListener('abort', gone)
        cleanUp.push(
          () => clearTimeout(late),
          () => line.signal.removeEventListener('abort', gone),
        )
        this.#open.set(id, { principal: line.principal, settle })
        line.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      })
      if (result) return result
      throw new RpcError('internal', `The client could not answer ${method}: ${error?.message}`)
    } finally {
      for (const step of cleanUp) step()
    }
  }
}

export const notification = (method: string, params: JsonObject): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })
