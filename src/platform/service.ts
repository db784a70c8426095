import type { Collection } from '#core/collection.ts'
import type { InputOf, Operation, ResultOf } from '#core/operation.ts'
import type { ActionLog } from './actions.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Meter } from './meter.ts'
import type { Reconcile } from './reconcile.ts'
import type { Store } from './store/store.ts'
import type { Token } from './tokens.ts'

/** A validated request, as a handler gets it. */
export type Call<O> = InputOf<O> & {
  token: Token
  /** Say something beside the answer: that a thing is recorded and not enforced, and why. */
  note(text: string): void
  /** The address under which the caller reached us: `http://127.0.0.1:8787`. */
  origin: string
  signal: AbortSignal
}

/** Gives an operation its handler. */
export type On = <O extends Operation>(
  operation: O,
  handler: (call: Call<O>) => Answer<O> | Promise<Answer<O>>,
) => void

/** An operation with an empty body is answered by returning nothing. */
type Answer<O> = [ResultOf<O>] extends [undefined] ? void : ResultOf<O>

/** A slice of the platform: behaviour only; its drivers are passed in where it is made. */
export type Service = (on: On, kernel: Kernel) => void

/** What a service can do, and whether it is in force on this machine. */
export interface Standing {
  state: 'running' | 'starting' | 'off' | 'failed'
  enforced: boolean
  /** Why it is not enforced. */
  reason?: string
  /** The command that changes that. */
  fix?: string
}

/** What every service may use. */
export interface Kernel {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  /** Where a service keeps its files: `COVE_HOME/<service>`, made on demand. */
  folder(service: string): string
  actions: ActionLog
  meter: Meter
  /** Bring the records of a collection about; see `reconcile.ts`. */
  reconcile<T extends object>(collection: Collection<T>, step: Reconcile<T>): void
  /** A face that is not of the v2 API. `path` as hono writes it. No authentication is done for it. */
  route(path: string, handler: (request: Request) => Response | Promise<Response>): void
  /** Who a bearer token belongs to; undefined for an unknown or expired one. */
  authenticate(request: Request): Promise<Token | undefined>
  /** Ready only after this; called in order of registration. */
  onStart(work: () => Promise<void>): void
  onStop(work: () => Promise<void>): void
  /** What `cove status` and `cove doctor` say of the service; asked also when nothing was started. */
  report(service: string, standing: () => Standing): void
  /** Facts that `cove status` shows besides. */
  facts: { dns?: { host: string; port: number } }
}

export interface Ids {
  uuid(): string
  /** Unguessable text for secrets, `bytes` of entropy. */
  secret(bytes: number): string
}
