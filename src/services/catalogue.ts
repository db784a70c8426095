import { merge } from '#core/merge.ts'
import type { Operation } from '#core/operation.ts'
import type { Tool } from '#mcp/tool.ts'
import { actionTools } from './account/actions/tools.ts'
import { billingTools } from './account/billing/tools.ts'
import { informationTools } from './account/information/tools.ts'
import { keyTools } from './account/keys/tools.ts'
import { clusterTools } from './databases/clusters/tools.ts'
import { configTools } from './databases/config/tools.ts'
import { databaseFirewallTools } from './databases/firewall/tools.ts'
import { migrationTools } from './databases/migrations/tools.ts'
import { topicTools } from './databases/topics/tools.ts'
import { databaseUserTools } from './databases/users/tools.ts'
import { actionTools as functionActionTools } from './functions/actions/tools.ts'
import { activationTools } from './functions/activations/tools.ts'
import { guideTools } from './functions/guide/tools.ts'
import { accessKeyTools } from './functions/keys/tools.ts'
import { namespaceTools } from './functions/namespaces/tools.ts'
import { packageTools } from './functions/packages/tools.ts'
import { triggerTools } from './functions/triggers/tools.ts'
import { routerTools } from './genai/routers/tools.ts'
import { byoipTools } from './networking/byoip/tools.ts'
import { certificateTools } from './networking/certificates/tools.ts'
import { domainTools } from './networking/domains/tools.ts'
import { firewallTools } from './networking/firewalls/tools.ts'
import { loadBalancerTools } from './networking/load-balancers/tools.ts'
import { reservedIpTools } from './networking/reserved-ips/tools.ts'
import { vpcPeeringTools } from './networking/vpc-peerings/tools.ts'
import { vpcTools } from './networking/vpcs/tools.ts'

/** Every tool of Cove, by service. */
export const catalogue: Record<string, Record<string, Tool>> = {
  accounts: merge<Tool>(actionTools, billingTools, keyTools, informationTools),
  databases: merge<Tool>(
    clusterTools,
    migrationTools,
    databaseFirewallTools,
    topicTools,
    configTools,
    databaseUserTools,
  ),
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
  networking: merge<Tool>(
    domainTools,
    certificateTools,
    firewallTools,
    loadBalancerTools,
    reservedIpTools,
    vpcPeeringTools,
    byoipTools,
    vpcTools,
  ),
}

export const allTools: Record<string, Tool> = merge(...Object.values(catalogue))

/** What the tools ask of the API. */
export const toolOperations: readonly Operation[] = [
  ...new Set(Object.values(allTools).flatMap((tool) => tool.uses)),
]
