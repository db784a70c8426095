import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Context,
  type JsonObject,
  protocolVersions,
  RpcError,
  rendered,
  type ServerSpec,
} from '#mcp/protocol.ts'

type Tool = (args: JsonObject, context: Context) => string | Promise<string>

const yes = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] }

/** A small server with a tool for every way a call can go, and a diary of what happened inside. */
export const echoServer = (versions: readonly string[] = protocolVersions) => {
  const diary: string[] = []
  const tools: Record<string, Tool> = {
    echo: ({ text }) => String(text),
    who: (_, { auth, version, client }) => JSON.stringify({ auth, version, client }),
    steps: async (_, { progress }) => {
      for (const step of [1, 2, 2, 3]) {
        progress(step, 3, `step ${step}`)
        await wait(5)
      }
      return 'walked'
    },
    wait: async (_, { signal }) => {
      diary.push('waiting')
      await once(signal, 'abort')
      diary.push('aborted')
      throw signal.reason
    },
    boom: () => {
      throw new Error('the password is 1234')
    },
    delete: async ({ name }, { canElicit, elicit }) => {
      if (!canElicit) return `deleted ${name} unasked`
      const { action, content } = await elicit(`Delete ${name}?`, yes)
      if (action !== 'accept' || content?.yes !== true) return `kept ${name}: ${action}`
      diary.push(`deleted ${name}`)
      return `deleted ${name}`
    },
  }
  const list = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } }))
  const json = JSON.stringify({ tools: list })
  const spec: ServerSpec = {
    info: { name: 'echo', version: '1.0.0' },
    instructions: 'Say something.',
    versions,
    capabilities: { tools: {} },
    cache: { 'tools/list': { ttlMs: 1000, cacheScope: 'public' } },
    methods: {
      'tools/list': () => rendered(json),
      'tools/call': async (params, context) => {
        const tool = Object.hasOwn(tools, String(params.name)) && tools[String(params.name)]
        if (!tool) throw new RpcError('invalidParams', `There is no tool "${params.name}".`)
        const text = await tool((params.arguments ?? {}) as JsonObject, context)
        return { content: [{ type: 'text', text }] }
      },
    },
    report: (error) => diary.push(`reported ${(error as Error).message}`),
  }
  return { spec, diary }
}

/** The envelope of a 2026-07-28 request. */
export const envelope = (capabilities: JsonObject = {}, version = '2026-07-28') => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  },
})
