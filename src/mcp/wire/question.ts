import { type Client, isObject, type JsonObject, modernVersion, RpcError } from '#mcp/protocol.ts'

/** What a client has to have declared to be asked, and the first revision that knows the question. */
const askable: Record<string, { capability: string; since: string }> = {
  'elicitation/create': { capability: 'elicitation', since: '2025-06-18' },
  'sampling/createMessage': { capability: 'sampling', since: '2024-11-05' },
  'roots/list': { capability: 'roots', since: '2024-11-05' },
}

export const canAsk = (method: string, version: string, client: Client): boolean => {
  const rule = askable[method]
  if (!rule || version < rule.since) return false
  const declared = client.capabilities[rule.capability]
  if (!isObject(declared)) return false
  // A client that shows pages but no forms cannot be asked with a form.
  return method !== 'elicitation/create' || declared.form !== undefined || !declared.url
}

export const cannotAsk = (method: string, version: string): RpcError => {
  const capability = askable[method]?.capability ?? method
  const message = `This needs a client that declares the capability "${capability}".`
  return version === modernVersion
    ? new RpcError('missingCapability', message, { requiredCapabilities: { [capability]: {} } })
    : new RpcError('invalidRequest', message)
}

/** Reads an answer; a sentence when it cannot be one. */
export type Reader<T> = (answer: JsonObject) => T | string

/** How a running request asks its client; `key` names the question where several may be open. */
export interface Asking {
  ask<T>(method: string, params: JsonObject, read: Reader<T>, key?: string): Promise<T>
}
