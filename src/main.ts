import { join } from 'node:path'
import type { Fetch } from '#client/client.ts'
import { consoleFile } from '#console/page.ts'
import { chat } from '#inference/chat.ts'
import { createInference } from '#inference/inference.ts'
import { fileAudit } from '#mcp/audit-file.ts'
import { type Confirm, createCalls } from '#mcp/calls.ts'
import {
  bearerToken,
  challenge,
  metadataPaths,
  type Protection,
  resourceMetadata,
} from '#mcp/challenge.ts'
import { createGuard } from '#mcp/guard.ts'
import { serveHttp } from '#mcp/http.ts'
import { readListing } from '#mcp/listing.ts'
import { type Listed, select, type Wish } from '#mcp/select.ts'
import { toolServer } from '#mcp/server.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { createPlatform, type Platform } from '#platform/platform.ts'
import type { Ids, Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { auditFile } from '#services/cove/audit/contract.ts'
import { consoleService } from '#services/cove/console/platform.ts'
import { machineService } from '#services/cove/machine/platform.ts'
import type { Status } from '#services/cove/status/contract.ts'
import { statusService } from '#services/cove/status/platform.ts'
import { tokenService } from '#services/cove/tokens/platform.ts'
import { type DatabaseOptions, databaseService } from '#services/databases.ts'
import { evaluationServices } from '#services/evaluation.ts'
import type { DeclaredProvider } from '#services/genai/providers/contract.ts'
import { inferenceServices } from '#services/inference.ts'
import { knowledgeService } from '#services/knowledge.ts'
import { type NetworkOptions, networkService } from '#services/network.ts'
import { platformServices } from '#services/platform.ts'
import { type FunctionOptions, serverlessService } from '#services/serverless.ts'
import { toolFinder } from '#services/toolboxes.ts'
import { version } from '#version.ts'

export interface CoveOptions {
  home: string
  token: string
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  rateLimit: number | 'off'
  wish: Wish
  confirm: Confirm
  answerLimit: number
  allowHosts: readonly string[]
  allowOrigins: readonly string[]
  /** Where it answers; known once it listens. */
  url: () => string
  functions?: Partial<FunctionOptions>
  /** Where the keys of model providers are. */
  env: Readonly<Record<string, string | undefined>>
  /** Model providers of the configuration, by name. */
  providers?: Readonly<Record<string, DeclaredProvider>>
  checkResults?: boolean
  /** Further services. */
  services?: readonly Service[]
  network: NetworkOptions
  databases?: DatabaseOptions['databases']
}

/** The whole product: one `fetch` with every face. */
export interface Cove {
  fetch(request: Request): Promise<Response>
  platform: Platform
  status(): Status
  start(): Promise<void>
  stop(): Promise<void>
}

const protection: Protection = { path: '/mcp', name: 'Cove' }

export const createCove = (options: CoveOptions): Cove => {
  let ready = false
  const listing = readListing()

  const status = (): Status => ({
    url: options.url(),
    pid: process.pid,
    home: options.home,
    version,
    dns: platform.kernel.facts.dns ?? null,
    services: platform.standings(),
    unserved: platform.unserved(),
  })

  const inference = createInference(options)

  const platform: Platform = createPlatform({
    ...options,
    services: [
      ...platformServices,
      networkService(options.network),
      knowledgeService,
      serverlessService(options),
      databaseService(options),
      ...inferenceServices(inference, { env: options.env, declared: options.providers ?? {} }),
      evaluationServices({
        chat: (target, request, limits) => chat(inference, target, request, limits),
        env: options.env,
        url: options.url,
      }),
      tokenService(() => platform.scopes()),
      ...(options.services ?? []),
      statusService(status),
      machineService(options.home),
      consoleService,
    ],
    contract: listing.flatMap((tool) => tool.uses),
    version,
  })

  const mcp = mcpFace(options, platform, listing)
  const guard = createGuard({ hosts: options.allowHosts, origins: options.allowOrigins })

  return {
    platform,
    status,
    fetch: async (request) => {
      const refusal = guard(request)
      if (refusal) return refusal
      const { pathname, origin } = new URL(request.url)
      if (pathname === '/mcp') return mcp(request, origin)
      if (pathname === '/healthz') return Response.json({ status: 'ok', version })
      if (pathname === '/readyz') return Response.json({ ready }, { status: ready ? 200 : 503 })
      if (metadataPaths(protection).includes(pathname)) {
        return Response.json(resourceMetadata(origin, protection))
      }
      return (await consoleFile(pathname)) ?? platform.fetch(request)
    },
    start: async () => {
      await platform.start()
      ready = true
    },
    stop: async () => {
      ready = false
      await platform.stop()
      await options.store.close()
    },
  }
}

/** `/mcp`: the caller's bearer token is the token used on the API. */
const mcpFace = (options: CoveOptions, platform: Platform, listing: readonly Listed[]) => {
  const selection = select(listing, options.wish)
  const calls = createCalls(
    toolFinder((name) => selection.tools.get(name)?.service),
    {
      baseUrl: 'http://cove.local',
      fetch: platform.fetch as Fetch,
      timeout: Number.POSITIVE_INFINITY,
      audit: fileAudit(join(options.home, auditFile)),
      confirm: options.confirm,
      answerLimit: options.answerLimit,
      now: options.clock.now,
    },
  )
  const serve = serveHttp(
    toolServer({
      selection,
      version,
      calls: async () => calls,
      identify: ({ auth }) => ({ token: auth?.token ?? '', who: auth?.principal ?? 'unknown' }),
      report: (error) =>
        options.log.error('A tool failed inside Cove.', {
          cause: error instanceof Error ? error.stack : String(error),
        }),
    }),
  )

  return async (request: Request, origin: string): Promise<Response> => {
    if (request.method !== 'POST') return serve(request)
    const token = bearerToken(request)
    if (token === undefined) {
      return challenge(origin, protection, 'Send the header "Authorization: Bearer <token>".')
    }
    const known = await platform.authenticate(request)
    if (!known) {
      const message = 'The token is unknown, expired or revoked.'
      return challenge(origin, protection, message, 'invalid_token')
    }
    return serve(request, { auth: { principal: known.name, token } })
  }
}
