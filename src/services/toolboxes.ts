import type { FindTool } from '#mcp/calls.ts'
import type { Tool } from '#mcp/tool.ts'

/** Finds a tool by the service that the listing says it belongs to; each toolbox is opened once. */
export const toolFinder = (serviceOf: (tool: string) => string | undefined): FindTool => {
  const opened = new Map<string, Record<string, Tool>>()
  const open = async (service: string, name: string) => {
    const tools = (await toolboxes[service]?.()) ?? {}
    opened.set(service, tools)
    return tools[name]
  }
  return (name) => {
    const service = serviceOf(name) ?? ''
    return opened.get(service)?.[name] ?? open(service, name)
  }
}

/** The tools of each service, loaded when one of them is needed: an idle tool server stays small. */
export const toolboxes: Record<string, () => Promise<Record<string, Tool>>> = {
  accounts: async () => (await import('./account/tools.ts')).tools,
  databases: async () => (await import('./databases/tools.ts')).tools,
  functions: async () => (await import('./functions/tools.ts')).tools,
  networking: async () => (await import('./networking/tools.ts')).tools,
  'genai-evaluation': async () => (await import('./genai/tools.ts')).evaluationTools,
  'genai-inferencerouter': async () => (await import('./genai/routers/tools.ts')).routerTools,
}
