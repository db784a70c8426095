import type { Tool } from '#mcp/tool.ts'

/** Finds a tool by the service that the listing says it belongs to. */
export const toolFinder =
  (serviceOf: (tool: string) => string | undefined) =>
  async (name: string): Promise<Tool | undefined> =>
    (await toolboxes[serviceOf(name) ?? '']?.())?.[name]

/** The tools of each service, loaded when one of them is needed: an idle tool server stays small. */
export const toolboxes: Record<string, () => Promise<Record<string, Tool>>> = {
  accounts: async () => (await import('./account/tools.ts')).tools,
  databases: async () => (await import('./databases/tools.ts')).tools,
  functions: async () => (await import('./functions/tools.ts')).tools,
  networking: async () => (await import('./networking/tools.ts')).tools,
  'genai-evaluation': async () => (await import('./genai/tools.ts')).evaluationTools,
  'genai-inferencerouter': async () => (await import('./genai/routers/tools.ts')).routerTools,
}
