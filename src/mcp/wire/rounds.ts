import { InputRequired, isObject, type JsonObject, RpcError } from '#mcp/protocol.ts'
import type { Asking, Reader } from '#mcp/wire/question.ts'
import type { Seal } from '#mcp/wire/seal.ts'

/** Only these requests may be answered with a question (2026-07-28). */
export const mayTakeRounds = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** How long a person may take to answer, in milliseconds. */
const lifetime = 600_000

interface State extends JsonObject {
  /** The request and the principal that the questions belong to. */
  about: string
  until: number
  /** Digests of the questions put so far: an answer counts only for the question it was given to. */
  asked: Record<string, string>
  answers: Record<string, JsonObject>
}

export interface RoundsRequest {
  method: string
  params: JsonObject
  principal: string | undefined
  now: number
  /** Loaded only when a question is put or answered. */
  seal(): Seal | Promise<Seal>
}

/**
 * Questions of 2026-07-28: the request ends with what it needs to know, and the client sends it again
 * with the answers. Everything between the two travels in a sealed `requestState`, so any process
 * that has the key can serve the second round.
 */
export class Rounds implements Asking {
  #request: RoundsRequest
  #earlier: { state: State; seal: Seal } | undefined
  #count = 0
  #open: Record<string, { method: string; params: JsonObject }> = {}

  private constructor(request: RoundsRequest, earlier?: { state: State; seal: Seal }) {
    this.#request = request
    this.#earlier = earlier
  }

  static async begin(request: RoundsRequest): Promise<Rounds> {
    const { requestState, inputResponses } = request.params
    if (requestState === undefined) return new Rounds(request)
    const seal = await request.seal()
    const state = unseal(requestState, seal, request)
    for (const key of Object.keys(state.asked)) {
      const answer = isObject(inputResponses) ? inputResponses[key] : undefined
      if (isObject(answer)) state.answers[key] = answer
    }
    return new Rounds(request, { state, seal })
  }

  async ask<T>(method: string, params: JsonObject, read: Reader<T>, name?: string): Promise<T> {
    this.#count += 1
    const key = name ?? `question-${this.#count}`
    const question = { method, params }
    const answer = this.#earlier ? this.#answerTo(key, question) : this.#unasked(name)
    const value = answer ? read(answer) : ''
    if (typeof value !== 'string') return value
    this.#open[key] = question
    throw new InputRequired()
  }

  /** The result that puts the open questions, when there are any. */
  async inputRequired(): Promise<JsonObject | undefined> {
    const open = Object.entries(this.#open)
    if (open.length === 0) return undefined
    const seal = await this.#request.seal()
    const { asked = {}, answers = {} } = this.#earlier?.state ?? {}
    const state: State = {
      about: subject(seal, this.#request),
      until: this.#request.now + lifetime,
      asked: { ...asked },
      answers: { ...answers },
    }
    for (const [key, question] of open) {
      state.asked[key] = seal.digest(question)
      delete state.answers[key]
    }
    const requestState = seal.close(state)
    return { resultType: 'input_required', inputRequests: this.#open, requestState }
  }

  #answerTo(key: string, question: JsonObject): JsonObject | undefined {
    const { state, seal } = this.#earlier ?? {}
    return state?.asked[key] === seal?.digest(question) ? state?.answers[key] : undefined
  }

  /** A client that knows a question by its name may answer it with the first request. */
  #unasked(name: string | undefined): JsonObject | undefined {
    const { inputResponses } = this.#request.params
    const answer = name && isObject(inputResponses) ? inputResponses[name] : undefined
    return isObject(answer) ? answer : undefined
  }
}

const subject = (seal: Seal, { method, params, principal }: RoundsRequest): string => {
  const { _meta, requestState, inputResponses, ...own } = params
  return seal.digest([method, own, principal ?? null])
}

const unseal = (text: unknown, seal: Seal, request: RoundsRequest): State => {
  const state = typeof text === 'string' ? seal.open(text) : undefined
  if (!isState(state))
    throw new RpcError('invalidParams', '"requestState" is not one this server gave out.')
  if (state.about !== subject(seal, request))
    throw new RpcError('invalidParams', '"requestState" belongs to another request.')
  if (state.until < request.now)
    throw new RpcError('invalidParams', '"requestState" has expired; send the request anew.')
  return state
}

const isState = (value: JsonObject | undefined): value is State =>
  typeof value?.about === 'string' &&
  typeof value.until === 'number' &&
  isObject(value.asked) &&
  isObject(value.answers)
