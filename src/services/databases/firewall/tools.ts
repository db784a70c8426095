import { z } from 'zod'
import { list, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { id } from '../args.ts'
import { databaseFirewall, ruleTypes } from './contract.ts'

const Rule = z.strictObject({
  uuid: z.string().optional(),
  cluster_uuid: z.string().optional(),
  type: z.enum(ruleTypes),
  value: text('Address, CIDR, tag or id'),
})

export const databaseFirewallTools = {
  'db-cluster-get-firewall-rules': call(databaseFirewall.get, {
    title: 'Get database firewall',
    about: 'Get the sources that may connect to a cluster; none means all.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-update-firewall-rules': call(databaseFirewall.update, {
    title: 'Update database firewall',
    about: 'Replace the sources that may connect to a cluster; an empty list lets all in.',
    args: { id, rules: list('The whole new list', Rule) },
    request: (a) => ({ path: { id: a.id }, body: { rules: a.rules } }),
  }),
}
