import { merge } from '#core/merge.ts'
import type { Tool } from '#mcp/tool.ts'
import { actionTools } from './actions/tools.ts'
import { activationTools } from './activations/tools.ts'
import { guideTools } from './guide/tools.ts'
import { accessKeyTools } from './keys/tools.ts'
import { namespaceTools } from './namespaces/tools.ts'
import { packageTools } from './packages/tools.ts'
import { triggerTools } from './triggers/tools.ts'

export const tools = merge<Tool>(
  namespaceTools,
  accessKeyTools,
  actionTools,
  packageTools,
  triggerTools,
  activationTools,
  guideTools,
)
