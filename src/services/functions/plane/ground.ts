import type { Invoker } from '#engines/sandbox/invoker.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Ids } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'

/** What is set for functions as a whole; every number with its unit in its name or beside it. */
export interface FunctionSettings {
  /** bytes of a payload, and of the parameters of an action or package */
  payload: number
  /** bytes of code as it is sent */
  code: number
  /** actions of a sequence, nested ones counted */
  sequence: number
  /** namespaces of the account */
  namespaces: number
  /** access keys of the account */
  keys: number
  /** triggers of a namespace */
  triggers: number
  /** ms that activations are kept */
  retention: number
  /** ms that a blocking call is waited for */
  wait: number
  /** calls that may wait for a sandbox before new ones are refused */
  queue: number
}

export const standardSettings: FunctionSettings = {
  payload: 1024 * 1024,
  code: 48 * 1024 * 1024,
  sequence: 50,
  namespaces: 100,
  keys: 200,
  triggers: 100,
  retention: 3 * 24 * 3_600_000,
  wait: 60_000,
  queue: 2_000,
}

/** What every part of the functions platform stands on. */
export interface Ground {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  invoker: Invoker
  settings: FunctionSettings
  /** Where this Cove answers: the `api_host` of its namespaces. */
  url: () => string
  /** Reaches clusters elsewhere. */
  fetch: (request: Request) => Promise<Response>
}
