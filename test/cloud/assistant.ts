import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type CallSettings, createCalls } from '#mcp/calls.ts'
import { listed } from '#mcp/describe.ts'
import { serveHttp } from '#mcp/http.ts'
import { select } from '#mcp/select.ts'
import { toolServer } from '#mcp/server.ts'
import { allTools, catalogue } from '#services/catalogue.ts'
import { baseUrl, type CloudOptions, contractCloud, token } from './cloud.ts'

export interface Outcome {
  failed: boolean
  /** The first text: formatted JSON, or the message of a failure. */
  text: string
  /** What is said beside it. */
  notes: string[]
  value: Record<string, unknown>
}

/** An assistant with the official MCP client, our tool server, and the cloud that the tests play. */
export const assistant = async (cloud: CloudOptions = {}, settings: Partial<CallSettings> = {}) => {
  const { fetch, asked, wrong } = contractCloud(cloud)
  const calls = createCalls((name) => allTools[name], {
    baseUrl,
    fetch,
    sleep: async () => {},
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: Date.now,
    ...settings,
  })
  const handle = serveHttp(
    toolServer({
      selection: select(
        Object.entries(catalogue).flatMap(([service, tools]) => listed(service, tools)),
        {},
      ),
      version: '1.0.0',
      calls: async () => calls,
      identify: () => ({ token, who: 'test' }),
      report: (error) => wrong.push(String(error)),
    }),
  )
  const client = new Client({ name: 'test', version: '1.0.0' })
  const address = new URL('http://localhost/mcp')
  await client.connect(
    new StreamableHTTPClientTransport(address, {
      fetch: (input, init) => handle(new Request(input, init)),
    }),
  )
  const call = async (name: string, args: object = {}): Promise<Outcome> => {
    const result = await client.callTool({ name, arguments: { ...args } })
    const [text = '', ...notes] = (result.content as { text: string }[]).map((part) => part.text)
    const value = (result.structuredContent ?? {}) as Record<string, unknown>
    return { failed: result.isError === true, text, notes, value }
  }
  return { call, asked, wrong, close: () => client.close() }
}
