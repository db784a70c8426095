import { merge } from '#core/merge.ts'
import type { Tool } from '#mcp/tool.ts'
import { byoipTools } from './byoip/tools.ts'
import { certificateTools } from './certificates/tools.ts'
import { domainTools } from './domains/tools.ts'
import { firewallTools } from './firewalls/tools.ts'
import { loadBalancerTools } from './load-balancers/tools.ts'
import { reservedIpTools } from './reserved-ips/tools.ts'
import { vpcPeeringTools } from './vpc-peerings/tools.ts'
import { vpcTools } from './vpcs/tools.ts'

export const tools = merge<Tool>(
  domainTools,
  certificateTools,
  firewallTools,
  loadBalancerTools,
  reservedIpTools,
  vpcPeeringTools,
  byoipTools,
  vpcTools,
)
