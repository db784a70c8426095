import { collection } from '#core/collection.ts'
import type { KeyValue } from '../actions/contract.ts'

export interface StoredActivation {
  activationId: string
  namespace: string
  /** `<namespace>/<package>/<name>` or `<namespace>/<name>`: what lists filter by. */
  path: string
  name: string
  version: string
  cause?: string
  start: number
  end: number
  duration: number
  statusCode: number
  response: { status: string; success: boolean; result: unknown; size: number }
  logs: string[]
  annotations: KeyValue[]
}

export const storedActivations = collection<StoredActivation>('function_activations', {
  called: 'Activation',
  key: 'activationId',
  indexes: ['namespace', 'path'],
})

/** A call that was accepted and has no record yet. */
export interface StoredInvocation {
  activationId: string
  namespace: string
  /** As in the activation. */
  path: string
  name: string
  version: string
  accepted: number
  /** The process that runs it. */
  runner: string
  cause?: string
}

export const storedInvocations = collection<StoredInvocation>('function_invocations', {
  called: 'Invocation',
  key: 'activationId',
  indexes: ['namespace', 'runner'],
})

/** A process that runs calls, and when it was last seen. */
export interface StoredRunner {
  id: string
  seen: number
}

export const storedRunners = collection<StoredRunner>('function_runners', {
  called: 'Runner',
  key: 'id',
})
