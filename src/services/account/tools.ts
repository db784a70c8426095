import { merge } from '#core/merge.ts'
import type { Tool } from '#mcp/tool.ts'
import { actionTools } from './actions/tools.ts'
import { billingTools } from './billing/tools.ts'
import { informationTools } from './information/tools.ts'
import { keyTools } from './keys/tools.ts'

export const tools = merge<Tool>(actionTools, billingTools, keyTools, informationTools)
