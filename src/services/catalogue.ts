import { merge } from '#core/merge.ts'
import type { Tool } from '#mcp/tool.ts'
import { toolboxes } from './toolboxes.ts'

/** Every tool of Cove, by service. */
export const catalogue: Record<string, Record<string, Tool>> = Object.fromEntries(
  await Promise.all(
    Object.entries(toolboxes).map(async ([service, open]) => [service, await open()] as const),
  ),
)

export const allTools: Record<string, Tool> = merge(...Object.values(catalogue))
