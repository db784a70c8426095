import { type Handler, modernVersion, RpcError, type ServerSpec } from '#mcp/protocol.ts'
import { type Answer, answerWriter, asRpcError, failure } from '#mcp/wire/answer.ts'
import { type Call, createContext } from '#mcp/wire/context.ts'
import type { RequestMessage } from '#mcp/wire/message.ts'
import type { Pending } from '#mcp/wire/pending.ts'
import { mayTakeRounds, Rounds } from '#mcp/wire/rounds.ts'
import type { Seal } from '#mcp/wire/seal.ts'
import { modernVersions, negotiate } from '#mcp/wire/version.ts'

interface Parts {
  /** Where questions of the handshake revisions wait for their answers. */
  pending: Pending
  /** Asked for only when something has to be sealed. */
  seal(): Seal | Promise<Seal>
  now(): number
}

/** Methods that one era has and the other does not, whoever registers them. */
const modernOnly = new Set(['server/discover', 'subscriptions/listen'])
const legacyOnly = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
])

/** Answers requests, the same for every transport and every revision. */
export const createKernel = (spec: ServerSpec, { pending, seal, now }: Parts) => {
  const methods = new Map<string, Handler>(Object.entries(spec.methods))
  methods.set('initialize', (params) => negotiate(spec, params).result)
  methods.set('ping', () => ({}))
  methods.set('server/discover', () => ({
    supportedVersions: modernVersions(spec),
    capabilities: spec.capabilities,
    instructions: spec.instructions,
  }))
  const write = answerWriter(spec)

  const handlerOf = ({ method }: RequestMessage, version: string): Handler => {
    const otherEra = version === modernVersion ? legacyOnly : modernOnly
    const handler = otherEra.has(method) ? undefined : methods.get(method)
    if (handler) return handler
    throw new RpcError('methodNotFound', `There is no method "${method.slice(0, 100)}" here.`)
  }

  const runInRounds = async (handler: Handler, request: RequestMessage, call: Call) => {
    const principal = call.auth?.principal
    const rounds = await Rounds.begin({ ...request, principal, now: now(), seal })
    const context = createContext(request, call, rounds)
    try {
      const result = await handler(request.params, context)
      return (await rounds.inputRequired()) ?? result
    } catch (error) {
      const question = await rounds.inputRequired()
      if (question) return question
      throw error
    }
  }

  const run = (request: RequestMessage, call: Call) => {
    const handler = handlerOf(request, call.version)
    if (call.version === modernVersion && mayTakeRounds.has(request.method))
      return runInRounds(handler, request, call)
    const { signal, send, auth } = call
    const asking = pending.on({ principal: auth?.principal, signal, send })
    return handler(request.params, createContext(request, call, asking))
  }

  /** Never throws. An aborted request has no answer. */
  const answer = async (request: RequestMessage, call: Call): Promise<Answer | undefined> => {
    try {
      const result = await run(request, call)
      if (call.signal.aborted) return undefined
      return write(request.id, request.method, call.version, result)
    } catch (error) {
      if (call.signal.aborted) return undefined
      return failure(request.id, call.version, asRpcError(error, spec.report))
    }
  }

  return { answer }
}
