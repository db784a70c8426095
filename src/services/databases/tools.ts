import { merge } from '#core/merge.ts'
import type { Tool } from '#mcp/tool.ts'
import { clusterTools } from './clusters/tools.ts'
import { configTools } from './config/tools.ts'
import { databaseFirewallTools } from './firewall/tools.ts'
import { migrationTools } from './migrations/tools.ts'
import { topicTools } from './topics/tools.ts'
import { databaseUserTools } from './users/tools.ts'

export const tools = merge<Tool>(
  clusterTools,
  migrationTools,
  databaseFirewallTools,
  topicTools,
  configTools,
  databaseUserTools,
)
