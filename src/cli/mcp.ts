import type { Confirm } from '#mcp/calls.ts'
import { readListing } from '#mcp/listing.ts'
import { select } from '#mcp/select.ts'
import { toolServer } from '#mcp/server.ts'
import { serveStdio } from '#mcp/stdio.ts'
import { version } from '#version.ts'
import { openBackend, remoteBackend } from './backend.ts'
import { command } from './command.ts'

/**
 * What an assistant spawns. The list of tools was rendered when Cove was built and is answered first;
 * the tools themselves are loaded after that, and the platform never.
 */
export const mcp = command({
  about: 'Serve the tools over stdio, for an assistant that spawns this command.',
  usage: '',
  settings: [
    'services',
    'tools',
    'exclude-tools',
    'read-only',
    'confirm',
    'answer-limit',
    'api-url',
    'api-token',
    'token',
  ],
  examples: [
    'cove mcp',
    'cove mcp --services databases,networking --read-only',
    'COVE_API_TOKEN=… cove mcp --api-url https://api.example.com',
  ],
  run: async ({ values, home }, { env }) => {
    const selection = select(readListing(), {
      services: values.services,
      tools: values.tools,
      excludeTools: values['exclude-tools'],
      readOnly: values['read-only'],
    })
    remoteBackend(values) // A wrong address is told now, not at the first call.
    const backend = untilItWorks(() => openBackend({ values, home, env }))
    const calls = untilItWorks(async () => {
      const { openCalls } = await import('./stdio-calls.ts')
      const confirm = values.confirm as Confirm
      const serviceOf = (tool: string) => selection.tools.get(tool)?.service
      const limits = { confirm, answerLimit: values['answer-limit'] }
      return openCalls(await backend(), home, serviceOf, limits)
    })
    const spec = toolServer({
      selection,
      version,
      calls,
      identify: async ({ client }) => ({
        token: (await backend()).token,
        who: `stdio:${client.info?.name ?? 'unknown'}`,
      }),
      report: (error) =>
        process.stderr.write(`${error instanceof Error ? error.message : error}\n`),
    })
    const list = spec.methods['tools/list']
    if (list) {
      spec.methods['tools/list'] = (params, context) => {
        // The cloud is started meanwhile; the tools are loaded when one is called.
        setTimeout(() => void backend().catch(spec.report), 5)
        return list(params, context)
      }
    }
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    await serveStdio(spec, { input: process.stdin, output: process.stdout, signal: stop.signal })
    return 0
  },
})

/** Done once; what failed is tried again when it is next asked for. */
const untilItWorks = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let under: Promise<T> | undefined
  return () => {
    under ??= work().catch((error) => {
      under = undefined
      throw error
    })
    return under
  }
}
