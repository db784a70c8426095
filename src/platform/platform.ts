import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#core/error.ts'
import type { Operation } from '#core/operation.ts'
import { createActionLog } from './actions.ts'
import { createApp } from './app.ts'
import type { Clock } from './clock.ts'
import { type Handler, handlerOf } from './handle.ts'
import type { Log } from './log.ts'
import { createMeter } from './meter.ts'
import { createRateLimit } from './rate-limit.ts'
import { createReconciler } from './reconcile.ts'
import type { Ids, Kernel, Service, Standing } from './service.ts'
import type { Store } from './store/store.ts'
import { createAuthenticator, type Token } from './tokens.ts'

export interface PlatformOptions {
  services: readonly Service[]
  /** What tools ask of the API, as `GET /v2/domains/:name`; what nothing serves answers 501. */
  contract: readonly string[]
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  home: string
  token: string
  rateLimit: number | 'off'
  version: string
  checkResults?: boolean
}

/** The embedded cloud: one object that is the server, the in-process backend and the test world. */
export interface Platform {
  fetch(request: Request): Promise<Response>
  authenticate(request: Request): Promise<Token | undefined>
  /** Bring everything up; answered when all that was kept is there again. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Run reconcilers until nothing is due now. */
  settle(): Promise<void>
  standings(): ({ name: string } & Standing)[]
  /** Operations that tools use and this platform does not serve yet. */
  unserved(): string[]
  /** Every scope that an operation asks for. */
  scopes(): ReadonlySet<string>
  /** What the services use. */
  kernel: Kernel
}

export const createPlatform = (options: PlatformOptions): Platform => {
  const { store, clock, ids, log } = options
  const handlers = new Map<Operation, Handler>()
  const routes: { path: string; handler: (request: Request) => Response | Promise<Response> }[] = []
  const starts: (() => Promise<void>)[] = []
  const stops: (() => Promise<void>)[] = []
  const reports = new Map<string, () => Standing>()
  const reconciler = createReconciler({ store, clock, owner: ids.uuid(), log: log.warn })
  const authenticate = createAuthenticator(store, clock, options.token)

  const kernel: Kernel = {
    store,
    clock,
    ids,
    log,
    folder: (service) => {
      const folder = join(options.home, service)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return folder
    },
    actions: createActionLog(store, clock),
    meter: createMeter(store, clock),
    reconcile: (collection, step) => reconciler.add(collection, step),
    route: (path, handler) => void routes.push({ path, handler }),
    authenticate,
    onStart: (work) => void starts.push(work),
    onStop: (work) => void stops.push(work),
    report: (service, standing) => void reports.set(service, standing),
    facts: {},
  }

  for (const service of options.services) {
    service((operation, handler) => {
      if (handlers.has(operation)) {
        throw new Error(`${operation.method} ${operation.path} has two handlers.`)
      }
      handlers.set(operation, handlerOf(operation, handler))
    }, kernel)
  }

  /** One service that cannot start does not keep the others from running. */
  const failures: string[] = []
  const tellFailure = (error: unknown) => {
    failures.push(messageOf(error))
    log.error('A service did not start.', { cause: error instanceof Error ? error.stack : error })
  }

  const unserved = () => {
    const served = new Set([...handlers.keys()].map(({ method, path }) => `${method} ${path}`))
    return [...new Set(options.contract)].filter((operation) => !served.has(operation))
  }

  const app = createApp({
    handlers,
    unserved: unserved(),
    routes,
    authenticate,
    rateLimit: createRateLimit(options.rateLimit, clock),
    uuid: ids.uuid,
    log,
    version: options.version,
    checkResults: options.checkResults ?? false,
  })

  return {
    fetch: async (request) => app.fetch(request),
    authenticate,
    start: async () => {
      for (const start of starts) await start().catch(tellFailure)
      reconciler.start()
    },
    stop: async () => {
      await reconciler.stop()
      for (const stop of stops.reverse()) await stop()
    },
    settle: () => reconciler.settle(),
    standings: () => [
      ...[...reports].map(([name, standing]) => ({ name, ...standing() })),
      ...failures.map((reason) => ({
        name: 'start-up',
        state: 'failed' as const,
        enforced: false,
        reason,
      })),
    ],
    scopes: () => new Set([...handlers.keys()].flatMap(({ scope }) => scope ?? [])),
    kernel,
    unserved,
  }
}
