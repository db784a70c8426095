import { merge } from '#core/merge.ts'
import type { Operation } from '#core/operation.ts'
import type { Tool } from '#mcp/tool.ts'
import { actionTools } from './account/actions/tools.ts'
import { billingTools } from './account/billing/tools.ts'
import { informationTools } from './account/information/tools.ts'
import { keyTools } from './account/keys/tools.ts'
import { actionTools as functionActionTools } from './functions/actions/tools.ts'
import { activationTools } from './functions/activations/tools.ts'
import { guideTools } from './functions/guide/tools.ts'
import { accessKeyTools } from './functions/keys/tools.ts'
import { namespaceTools } from './functions/namespaces/tools.ts'
import { packageTools } from './functions/packages/tools.ts'
import { triggerTools } from './functions/triggers/tools.ts'
import { routerTools } from './genai/routers/tools.ts'

/** Every tool of Cove, by service. */
export const catalogue: Record<string, Record<string, Tool>> = {
  accounts: merge<Tool>(actionTools, billingTools, keyTools, informationTools),
  functions: merge<Tool>(
    namespaceTools,
    accessKeyTools,
    functionActionTools,
    packageTools,
    triggerTools,
    activationTools,
    guideTools,
  ),
  'genai-inferencerouter': routerTools,
}

export const allTools: Record<string, Tool> = merge(...Object.values(catalogue))

/** What the tools ask of the API. */
export const toolOperations: readonly Operation[] = [
  ...new Set(Object.values(allTools).flatMap((tool) => tool.uses)),
]
