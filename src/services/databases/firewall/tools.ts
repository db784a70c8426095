import { z } from 'zod'
import { list, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { id } from '../args.ts'
import { databaseFirewall, ruleTypes } from './contract.ts'

const Rule = z.strictObject({
  uuid: z.string().optional().describe('UUID of an existing rule'),
  cluster_uuid: z.string().optional().describe('UUID of the cluster'),
  type: z.enum(ruleTypes).describe('Kind of source'),
  value: text('Address, CIDR block, tag, or id of the instance, app or Kubernetes cluster'),
})

export const databaseFirewallTools = {
  'db-cluster-get-firewall-rules': call(databaseFirewall.get, {
    title: 'Get database firewall',
    about: 'Get the sources that may connect to a cluster; none means anyone may.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-update-firewall-rules': call(databaseFirewall.update, {
    title: 'Update database firewall',
    about: 'Replace all sources that may connect to a cluster; an empty list opens it.',
    args: { id, rules: list('The whole new list of sources', Rule) },
    request: (a) => ({ path: { id: a.id }, body: { rules: a.rules } }),
  }),
}
