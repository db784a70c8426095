import { serve } from '@hono/node-server'
import { bearerToken, challenge, type Protection } from '#mcp/challenge.ts'
import { createGuard } from '#mcp/guard.ts'
import { serveHttp } from '#mcp/http.ts'
import { protocolVersions, type ServerSpec } from '#mcp/protocol.ts'
import { promptMethods } from './prompts.ts'
import { resourceMethods } from './resources.ts'
import { createSubscriptions } from './subscriptions.ts'
import { mirrored, toolMethods } from './tools.ts'

const protection: Protection = { path: '/mcp', name: 'conformance' }

/** The product's transport, guard and token check, with the suite's tools behind them. */
export const startServer = (token: string): Promise<{ port: number; stop(): void }> => {
  const subscriptions = createSubscriptions()
  const spec: ServerSpec = {
    info: { name: 'conformance', version: '1.0.0' },
    versions: protocolVersions,
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true },
      completions: {},
      logging: {},
    },
    methods: {
      ...toolMethods(subscriptions),
      ...subscriptions.methods,
      ...promptMethods,
      ...resourceMethods,
    },
    mirrored,
    cache: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
    report: (error) => {
      throw error
    },
  }
  const guard = createGuard()
  const handle = serveHttp(spec)
  const fetch = (request: Request) => {
    const refusal = guard(request)
    if (refusal) return refusal
    if (bearerToken(request) !== token)
      return challenge(new URL(request.url).origin, protection, 'A token is needed.')
    return handle(request, { auth: { principal: 'suite', token } })
  }
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ port, stop: () => server.close() }),
    )
  })
}
