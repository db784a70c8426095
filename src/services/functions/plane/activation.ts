import { type ExecOutcome, statusCodes } from '#engines/sandbox/invoker.ts'
import type { KeyValue } from '../actions/contract.ts'
import type { StoredActivation } from '../activations/records.ts'
import { fullPath } from './names.ts'
import type { Resolved } from './resolve.ts'

/** Who called what, before it is known how it ends. */
export interface CallFacts {
  activationId: string
  namespace: string
  resolved: Resolved
  cause?: string
}

/** The record of a call that ran. */
export const activationOf = (
  { activationId, namespace, resolved, cause }: CallFacts,
  outcome: ExecOutcome,
  more: KeyValue[] = [],
): StoredActivation => {
  const { action, binding } = resolved
  const path = fullPath(action)
  const { status, result, size, start, end, logs } = outcome
  const duration = end - start
  return {
    activationId,
    namespace,
    path: path.slice(path.indexOf('/') + 1).replace(/^/, `${namespace}/`),
    name: action.name,
    version: action.version,
    ...(cause ? { cause } : {}),
    start,
    end,
    duration,
    statusCode: statusCodes[status],
    response: { status, success: status === 'success', result, size },
    logs,
    annotations: [
      { key: 'path', value: path },
      { key: 'kind', value: action.exec.kind },
      { key: 'limits', value: action.limits },
      { key: 'waitTime', value: outcome.waitTime },
      ...(outcome.initTime === undefined ? [] : [{ key: 'initTime', value: outcome.initTime }]),
      { key: 'timeout', value: outcome.failure === 'timeout' },
      ...(outcome.failure ? [{ key: 'failure', value: outcome.failure }] : []),
      ...(binding ? [{ key: 'binding', value: binding }] : []),
      ...(cause ? [{ key: 'causedBy', value: 'sequence' }] : []),
      ...more,
    ],
  }
}

export const stopped = 'The platform stopped while the action was waiting or running.'

/** A call that never came to an outcome of its own. */
export const lost = (message: string, now: number, accepted = now): ExecOutcome => ({
  status: 'whisk internal error',
  failure: 'platform',
  result: { error: message },
  size: Buffer.byteLength(JSON.stringify({ error: message })),
  logs: [],
  start: accepted,
  end: now,
  waitTime: 0,
})

const publicParts = (of: StoredActivation) => ({
  namespace: of.namespace,
  name: of.name,
  version: of.version,
  subject: of.namespace,
  activationId: of.activationId,
  ...(of.cause ? { cause: of.cause } : {}),
  start: of.start,
  end: of.end,
  duration: of.duration,
  annotations: of.annotations,
  publish: false,
})

/** As itself. */
export const activationView = (of: StoredActivation) => ({
  ...publicParts(of),
  response: of.response,
  logs: of.logs,
})

/** As lists show it. */
export const activationSummary = (of: StoredActivation) => ({
  ...publicParts(of),
  statusCode: of.statusCode,
})
