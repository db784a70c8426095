import { createHash } from 'node:crypto'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { ApiError } from '#core/error.ts'
import type { Exchange } from './box.ts'
import { type Builder, createBuilder } from './build.ts'
import { expectation, openCage } from './cage.ts'
import { type CodeStore, openCodeStore } from './code.ts'
import { findImage } from './image.ts'
import type { ExecOutcome, ExecRequest, Invoker, Isolation } from './invoker.ts'
import type { Cage } from './launch.ts'
import type { NetworkPolicy } from './network.ts'
import { cutLine, initEnding, runEnding } from './outcome.ts'
import { createPool, type Pool, type PoolSettings } from './pool.ts'
import { findInterpreters, type Interpreter } from './runtimes.ts'
import { createStarter, type Starter, writeProxies } from './starter.ts'

export interface SandboxSettings {
  /** Everything is kept under this folder. */
  home: string
  /** Where the operator puts container images; under `home`. */
  images: string
  /** What compilers and package managers keep between builds. */
  buildCache: string
  network: NetworkPolicy
  isolation: 'required' | 'best-effort'
  pool: Omit<PoolSettings, 'starting'>
  /** Whether to keep started sandboxes without code at hand. */
  reserve: boolean
  /** The largest answer, in bytes. */
  answerBytes: number
  now: () => number
  log: (message: string) => void
  find?: (name: string) => string | undefined
}

interface World {
  cage: Cage
  isolation: Isolation
  interpreters: Interpreter[]
  starter: Starter
  pool: Pool
  codes: CodeStore
  builder: Builder
}

const readyMemory = 256
const buildTime = 300_000
const megabyte = 1024 * 1024

/** Sandboxes on this machine. Nothing is found out or started before the first use. */
export const createSandboxes = (settings: SandboxSettings): Invoker => {
  let opened: Promise<World> | undefined
  let pool: Pool | undefined
  let isolation: Isolation | undefined
  let closed = false
  const world = () => {
    opened ??= open(settings).then((made) => {
      pool = made.pool
      isolation = made.isolation
      return made
    })
    return opened
  }
  const allowed = async (): Promise<World> => {
    const of = await world()
    if (of.isolation.allowed) return of
    throw ApiError.unavailable(
      `Functions are refused here because they cannot be isolated: ${of.isolation.reason}. ` +
        'COVE_FUNCTIONS_ISOLATION=best-effort runs them all the same.',
    )
  }
  return {
    kinds: async () =>
      (await world()).interpreters.map(({ kind, aliases, version, default: standard }) => ({
        kind,
        aliases,
        version,
        default: standard,
      })),
    execute: async (request) => run(await allowed(), settings, request),
    prepare: async (action) => {
      const { codes, starter } = await allowed()
      if (action.kind === 'blackbox') await findImage(settings.images, action.image ?? '')
      else if (!starter.takesBlank(action)) await codes.program(action)
    },
    build: async (request) => (await allowed()).builder.run(request),
    evict: (owner, action) => pool?.evict(`${owner} ${action ? `${action} ` : ''}`),
    stats: () => pool?.stats() ?? { ...nothing, budget: settings.pool.budget },
    isolation: async () => (await world()).isolation,
    outlook: () => isolation ?? expectation(settings),
    start: async () => {
      await world()
    },
    close: async () => {
      const of = await opened
      if (!of || closed) return
      closed = true
      await of.pool.close()
      await of.cage.network?.close()
      await of.cage.groups?.close()
    },
  }
}

const nothing = { busy: 0, idle: 0, ready: 0, queued: 0, memory: 0 }

const open = async (settings: SandboxSettings): Promise<World> => {
  const { home, log } = settings
  for (const left of ['code', 'scratch'])
    await rm(path.join(home, left), { recursive: true, force: true })
  // Users of sandboxes may pass through to what is shown to them, and see nothing else.
  await mkdir(path.join(home, 'code'), { recursive: true })
  await chmod(path.join(home, 'code'), 0o711)
  await chmod(home, 0o711)
  const label = createHash('sha256').update(home).digest('hex').slice(0, 8)
  const { cage, isolation } = await openCage({ ...settings, label })
  const strays = (await cage.groups?.strays()) ?? []
  if (strays.length > 0) log(`removing ${strays.length} sandboxes of an earlier run`)
  await Promise.all(strays.map((stray) => stray.destroy()))
  await writeProxies(home, cage.network?.resolvers ?? [])

  const interpreters = await findInterpreters()
  const builder = createBuilder(cage, settings.buildCache)
  const codes = openCodeStore(path.join(home, 'code'), (dir, command) =>
    builder.run({ dir, commands: [command], timeout: buildTime }),
  )
  const starter = createStarter(settings, cage, codes, interpreters)
  const reserves = interpreters
    .filter(({ ready }) => settings.reserve && isolation.allowed && ready > 0)
    .map((interpreter) => ({
      kind: interpreter.kind,
      count: interpreter.ready,
      memory: readyMemory,
      start: () => starter.blank(interpreter, readyMemory),
    }))
  const starting = Math.max(2, availableParallelism())
  const pool = createPool({ ...settings.pool, starting }, reserves, log)
  pool.fill()
  return { cage, isolation, interpreters, starter, pool, codes, builder }
}

const run = async (
  { starter, pool, codes }: World,
  settings: SandboxSettings,
  request: ExecRequest,
): Promise<ExecOutcome> => {
  const { action } = request
  const limits = {
    timeout: action.limits.timeout,
    logBytes: action.limits.logs * megabyte,
    answerBytes: settings.answerBytes,
  }
  const asked = performance.now()
  const { box, fresh, release } = await pool.take({
    key: `${action.owner} ${action.name} ${action.version} ${action.revision} ${action.namespace}`,
    memory: action.limits.memory,
    ...(starter.takesBlank(action) ? { kind: starter.interpreter(action.kind).kind } : {}),
    start: () => starter.start(action),
  })
  const claimed = performance.now()
  const start = settings.now()
  const logs: string[] = []
  const exchange = async (line: string | undefined): Promise<Exchange> => {
    const done = await box.exchange(line, limits)
    for (const each of done.logs) logs.push(each)
    if (done.logsCut) logs.push(cutLine(limits.logBytes))
    return done
  }

  let reusable = false
  try {
    const failed = fresh
      ? initEnding(await exchange(await starter.initLine(action)), limits)
      : undefined
    const initTime = fresh ? Math.round(performance.now() - claimed) : undefined
    const ending =
      failed ?? runEnding(await exchange(runLine(request, start + limits.timeout)), limits)
    reusable = ending.failure === undefined
    if (fresh) codes.trim().catch((error: Error) => settings.log(error.message))
    return {
      ...ending,
      logs,
      start,
      end: start + Math.round(performance.now() - claimed),
      waitTime: Math.round(claimed - asked),
      ...(initTime === undefined ? {} : { initTime }),
    }
  } finally {
    release(reusable)
  }
}

const runLine = (request: ExecRequest, deadline: number): string =>
  JSON.stringify({
    value: request.params,
    namespace: request.action.namespace,
    action_name: `/${request.action.owner}/${request.action.name}`,
    action_version: request.action.version,
    activation_id: request.activationId,
    transaction_id: request.transactionId,
    deadline: String(deadline),
    api_host: request.apiHost,
    ...(request.apiKey === undefined ? {} : { api_key: request.apiKey }),
  })
