import { isObject, type JsonObject, RpcError } from '#mcp/protocol.ts'

export type Id = string | number

export interface RequestMessage {
  kind: 'request'
  id: Id
  method: string
  params: JsonObject
}
interface NotificationMessage {
  kind: 'notification'
  method: string
  params: JsonObject
}
/** The client's answer to a question of ours. */
export interface ResponseMessage {
  kind: 'response'
  id: Id
  result?: JsonObject
  error?: JsonObject
}
export type Message = RequestMessage | NotificationMessage | ResponseMessage

/** A message that is not one; carries the id when it could be read, to answer under it. */
export class Malformed extends RpcError {
  readonly id?: Id

  constructor(code: 'parse' | 'invalidRequest' | 'invalidParams', message: string, id?: unknown) {
    super(code, message)
    if (isId(id)) this.id = id
  }
}

/** Numbers beyond 2^53 would be answered under another id than the client's. */
const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isSafeInteger(id)

export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new Malformed('parse', 'The message is not valid JSON.')
  }
}

export const readMessage = (value: unknown): Message => {
  if (!isObject(value))
    throw new Malformed('invalidRequest', 'A message is a JSON object with "jsonrpc": "2.0".')
  const { jsonrpc, id, method, params = {}, result, error } = value
  const invalid = (message: string) => new Malformed('invalidRequest', message, id)
  if (jsonrpc !== '2.0') throw invalid('"jsonrpc" has to be "2.0".')
  if (id !== undefined && !isId(id)) throw invalid('"id" has to be a string or an integer.')
  if (typeof method === 'string') {
    if (!isObject(params)) throw new Malformed('invalidParams', '"params" has to be an object.', id)
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id, method, params }
  }
  if (method !== undefined) throw invalid('"method" has to be a string.')
  if (id !== undefined && isObject(result)) return { kind: 'response', id, result }
  if (id !== undefined && isObject(error)) return { kind: 'response', id, error }
  throw invalid('A message has a "method", or it answers one with an "id" and a "result" object.')
}
