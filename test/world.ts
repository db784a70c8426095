import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Api, createApi } from '#client/client.ts'
import { type Cove, type CoveOptions, createCove } from '#main.ts'
import { createCalls } from '#mcp/calls.ts'
import type { ToolResult } from '#mcp/results.ts'
import { systemClock } from '#platform/clock.ts'
import { silentLog } from '#platform/log.ts'
import type { Kernel } from '#platform/service.ts'
import { openSqlite } from '#platform/store/sqlite.ts'
import type { Store } from '#platform/store/store.ts'
import { allTools } from '#services/catalogue.ts'
import { tokens } from '#services/cove/tokens/contract.ts'
import type { NetworkOptions } from '#services/network.ts'
import { type TestClock, testClock } from './clock.ts'
import { openPublicApi } from './public-api.ts'

/** The whole product in memory, with a home of its own. */
export interface World {
  cove: Cove
  clock: TestClock
  home: string
  /** What the platform remembers. */
  store: Store
  token: string
  /** What services use, for a story that plays one. */
  kernel: Kernel
  /** The API as its owner uses it. */
  api: Api
  /** The API with a token that may do only this. */
  apiWith(...scopes: string[]): Promise<Api>
  /** A raw request to any face, with the owner's token unless it says otherwise. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The structured answer of a tool; a failing call throws its message. */
  tool(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>
  /** The whole result of a tool, failing or not. */
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>
  /** The message of a call that must fail. */
  refusal(name: string, args?: Record<string, unknown>): Promise<string>
  /** Let reconcilers do what is due. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** Where the public API's description is at hand, every answer is held against it. */
const publicApi = openPublicApi()

const baseUrl = 'http://127.0.0.1:8787'

export interface WorldOptions {
  services?: CoveOptions['services']
  rateLimit?: number
  network?: Partial<NetworkOptions>
  functions?: CoveOptions['functions']
  databases?: CoveOptions['databases']
  /** Keys of model providers, by the name of their variable. */
  env?: Record<string, string>
  providers?: NonNullable<CoveOptions['providers']>
  /** Time as it is, for stories with real waiting in them. */
  realTime?: boolean
}

export const world = async (options: WorldOptions = {}): Promise<World> => {
  const home = mkdtempSync(join(tmpdir(), 'cove-test-'))
  const clock = options.realTime ? { ...systemClock, advance: () => {} } : testClock()
  const token = `cove_v1_${randomBytes(16).toString('hex')}`
  const store = await openSqlite(':memory:')
  const cove = createCove({
    home,
    token,
    store,
    clock,
    ids: { uuid: randomUUID, secret: (bytes) => randomBytes(bytes).toString('hex') },
    log: silentLog,
    rateLimit: options.rateLimit ?? 'off',
    wish: {},
    confirm: 'never',
    answerLimit: 100_000,
    allowHosts: [],
    allowOrigins: [],
    url: () => baseUrl,
    // Compilers start warm when they ran before on this machine.
    functions: { buildCache: join(tmpdir(), 'cove-test-build-cache'), ...options.functions },
    checkResults: true,
    ...(options.services ? { services: options.services } : {}),
    ...(options.databases ? { databases: options.databases } : {}),
    env: options.env ?? {},
    ...(options.providers ? { providers: options.providers } : {}),
    network: {
      dns: { host: '127.0.0.1', port: 0, lazy: true },
      fabric: { mode: 'none' },
      ...options.network,
    },
  })
  await cove.start()

  const inProcess = async (request: Request) => {
    const response = await cove.platform.fetch(request)
    const body = await response.clone().text()
    const fault = publicApi?.answerFault(request.method, request.url, response.status, body)
    if (fault) throw new Error(fault)
    return response
  }
  const apiFor = (secret: string) =>
    createApi({ baseUrl, token: secret, fetch: inProcess, sleep: async () => {} })
  const api = apiFor(token)
  const calls = createCalls((name) => allTools[name], {
    baseUrl,
    fetch: inProcess,
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: clock.now,
  })
  const call: World['call'] = (name, args = {}) =>
    calls(name, args, {
      token,
      who: 'test',
      signal: new AbortController().signal,
      progress: () => {},
    })

  return {
    cove,
    kernel: cove.platform.kernel,
    clock,
    home,
    store,
    token,
    api,
    apiWith: async (...scopes) => {
      const made = await api(tokens.create, { body: { name: randomUUID(), scopes } })
      return apiFor(made.token.secret)
    },
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('host')) headers.set('host', '127.0.0.1:8787')
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
      return cove.fetch(new Request(baseUrl + path, { ...init, headers }))
    },
    call,
    tool: async (name, args) => {
      const result = await call(name, args)
      if (result.isError) throw new Error(result.content[0]?.text)
      return result.structuredContent ?? {}
    },
    refusal: async (name, args) => {
      const result = await call(name, args)
      if (!result.isError) throw new Error(`${name} was expected to fail.`)
      return result.content[0]?.text ?? ''
    },
    settle: () => cove.platform.settle(),
    close: async () => {
      await cove.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
