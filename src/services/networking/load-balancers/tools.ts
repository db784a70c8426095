import { z } from 'zod'
import { choice, int, ints, list, object, pageOf, paging, text, texts } from '#mcp/args.ts'
import { call, script, type ToolContext } from '#mcp/tool.ts'
import { balancerTypes, loadBalancers, networkStacks, networks } from './contract.ts'
import { changeOf, creationOf, type GivenRule, rulesOf } from './request.ts'
import { entryProtocols, targetProtocols } from './rule.ts'

const LoadBalancerID = text('Load balancer id')
const InstanceIDs = ints('Instance numbers')

const port = z.int().min(1).max(65_535)

/** The specification has ids as text here, while the API has numbers. */
const instanceTexts = z
  .array(
    z.preprocess(
      (id) => (typeof id === 'number' ? String(id) : id),
      z.string().regex(/^\d+$/, 'must be the number of an instance, such as 3164444'),
    ),
  )
  .transform((ids) => ids.map(Number))
  .describe('Instances behind it, such as ["3164444"]; not with Tag')

const ForwardingRules = list(
  'From entry to target',
  z.object({
    EntryProtocol: z.enum(entryProtocols),
    EntryPort: port,
    TargetProtocol: z.enum(targetProtocols),
    TargetPort: port,
    TlsPassthrough: z.boolean().optional(),
  }),
)

const shared = {
  Region: text('Slug, such as nyc3; for regional types').optional(),
  InstanceIDs: instanceTexts.optional(),
  Tag: text('Tag of the instances behind it').optional(),
  ForwardingRules: ForwardingRules.optional(),
  SizeUnit: int('Number of nodes', 1, 100).optional(),
  NetworkStack: choice('IP versions', networkStacks).optional(),
  ProjectID: text('Project UUID').optional(),
  TargetLoadBalancerIDs: texts('Balancers behind a GLOBAL one').optional(),
  GLBSettings: object(
    'For GLOBAL, such as {"target_protocol":"http","target_port":80,"cdn":{"is_enabled":true},"region_priorities":{"nyc3":1,"fra1":2},"failover_threshold":50}',
    {
      target_protocol: z.enum(['http', 'https', 'http2']),
      target_port: port,
      cdn: z.object({ is_enabled: z.boolean() }).optional(),
      region_priorities: z.record(z.string(), z.int()).optional(),
      failover_threshold: z.int().min(1).max(99).optional(),
    },
    [],
  ).optional(),
}

/** Changes of one load balancer by this server happen one after the other, so none is lost. */
const alone = async <T>(
  { memory }: ToolContext,
  id: string,
  work: () => Promise<T>,
): Promise<T> => {
  const key = `load-balancer ${id}`
  const before = (memory.get(key) as Promise<unknown> | undefined) ?? Promise.resolve()
  const mine = before.then(work, work)
  memory.set(key, mine)
  try {
    return await mine
  } finally {
    if (memory.get(key) === mine) memory.delete(key)
  }
}

const changeMembers = (
  operation: typeof loadBalancers.addDroplets | typeof loadBalancers.removeDroplets,
  a: { LoadBalancerID: string; InstanceIDs: number[] },
  context: ToolContext,
) =>
  alone(context, a.LoadBalancerID, async () => {
    const path = { id: a.LoadBalancerID }
    await context.api(operation, { path, body: { droplet_ids: a.InstanceIDs } })
    return { status: 'updated', ...path, droplet_ids: a.InstanceIDs }
  })

const changeRules = (
  operation: typeof loadBalancers.addRules | typeof loadBalancers.removeRules,
  a: { LoadBalancerID: string; ForwardingRules: GivenRule[] },
  context: ToolContext,
) =>
  alone(context, a.LoadBalancerID, async () => {
    const path = { id: a.LoadBalancerID }
    const body = { forwarding_rules: rulesOf(a.ForwardingRules) }
    await context.api(operation, { path, body })
    return { status: 'updated', ...path, ...body }
  })

export const loadBalancerTools = {
  'load-balancer-create': call(loadBalancers.create, {
    title: 'Create load balancer',
    about: 'Create a load balancer for instances, or a GLOBAL one for regional ones.',
    args: {
      Name: text('Name, such as web-1'),
      ...shared,
      Type: choice('Kind', balancerTypes).default('REGIONAL'),
      Network: choice('INTERNAL: from its VPC only', networks).default('EXTERNAL'),
    },
    request: (a) => ({ body: creationOf(a) }),
  }),
  'load-balancer-update': script({
    title: 'Update load balancer',
    about: 'Change a load balancer; what is left out stays.',
    effect: 'change',
    uses: [loadBalancers.get, loadBalancers.update],
    args: {
      LoadBalancerID,
      Name: text('Name, such as web-1'),
      ...shared,
      Type: choice('Kind', balancerTypes).optional(),
      Network: choice('INTERNAL: from its VPC only', networks).optional(),
    },
    run: (a, context) =>
      alone(context, a.LoadBalancerID, async () => {
        const path = { id: a.LoadBalancerID }
        const { load_balancer: current } = await context.api(loadBalancers.get, { path })
        return context.api(loadBalancers.update, { path, body: changeOf(current, a) })
      }),
  }),
  'load-balancer-delete': call(loadBalancers.delete, {
    title: 'Delete load balancer',
    about: 'Delete a load balancer for good.',
    args: { LoadBalancerID },
    request: (a) => ({ path: { id: a.LoadBalancerID } }),
  }),
  'load-balancer-delete-cache': call(loadBalancers.deleteCache, {
    title: 'Delete load balancer cache',
    about: 'Empty the CDN cache of a global load balancer.',
    args: { LoadBalancerID },
    request: (a) => ({ path: { id: a.LoadBalancerID } }),
  }),
  'load-balancer-get': call(loadBalancers.get, {
    title: 'Get load balancer',
    about: 'Get a load balancer with its status and address.',
    args: { LoadBalancerID },
    request: (a) => ({ path: { id: a.LoadBalancerID } }),
  }),
  'load-balancer-list': call(loadBalancers.list, {
    title: 'List load balancers',
    about: 'List the load balancers.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
  'load-balancer-add-droplets': script({
    title: 'Add load balancer instances',
    about: 'Put instances behind a load balancer.',
    effect: 'change',
    uses: [loadBalancers.addDroplets],
    args: { LoadBalancerID, InstanceIDs },
    run: (a, context) => changeMembers(loadBalancers.addDroplets, a, context),
  }),
  'load-balancer-remove-droplets': script({
    title: 'Remove load balancer instances',
    about: 'Take instances out of a load balancer.',
    effect: 'change',
    uses: [loadBalancers.removeDroplets],
    args: { LoadBalancerID, InstanceIDs },
    run: (a, context) => changeMembers(loadBalancers.removeDroplets, a, context),
  }),
  'load-balancer-add-forwarding-rules': script({
    title: 'Add forwarding rules',
    about: 'Add forwarding rules to a load balancer.',
    effect: 'change',
    uses: [loadBalancers.addRules],
    args: { LoadBalancerID, ForwardingRules },
    run: (a, context) => changeRules(loadBalancers.addRules, a, context),
  }),
  'load-balancer-remove-forwarding-rules': script({
    title: 'Remove forwarding rules',
    about: 'Remove forwarding rules from a load balancer.',
    effect: 'change',
    uses: [loadBalancers.removeRules],
    args: { LoadBalancerID, ForwardingRules },
    run: (a, context) => changeRules(loadBalancers.removeRules, a, context),
  }),
}
