import { z } from 'zod'
import { choice, flag, int, ints, list, object, pageOf, paging, text, texts } from '#mcp/args.ts'
import { call, script, type ToolContext } from '#mcp/tool.ts'
import { balancerTypes, loadBalancers, networkStacks, networks } from './contract.ts'
import { changeOf, creationOf, type GivenRule, rulesOf } from './request.ts'
import { entryProtocols, targetProtocols } from './rule.ts'

const LoadBalancerID = text('Load balancer id, as load-balancer-list shows it')
const InstanceIDs = ints('Numbers of instances, for example [3164444]')

/** The specification has ids as text here, while the API has numbers. */
const instanceTexts = z
  .array(
    z.preprocess(
      (id) => (typeof id === 'number' ? String(id) : id),
      z.string().regex(/^\d+$/, 'must be the number of an instance, such as 3164444'),
    ),
  )
  .transform((ids) => ids.map(Number))
  .describe('Numbers of the instances behind it, for example ["3164444"]; not together with Tag')

const ForwardingRules = list(
  'What it listens to and where that goes',
  z.object({
    EntryProtocol: choice('Protocol of clients', entryProtocols),
    EntryPort: int('Port for clients, for example 80', 1, 65_535),
    TargetProtocol: choice('Protocol of instances', targetProtocols),
    TargetPort: int('Port of instances, for example 8080', 1, 65_535),
    TlsPassthrough: flag('Hand encrypted traffic to the instances as it is').optional(),
  }),
)

const settings = {
  Region: text('Region slug, for example nyc3; for regional types').optional(),
  InstanceIDs: instanceTexts.optional(),
  Tag: text('Tag whose instances are behind it; not together with InstanceIDs').optional(),
  ForwardingRules: ForwardingRules.optional(),
  SizeUnit: int('Number of nodes', 1, 100).optional(),
  NetworkStack: choice('IP versions', networkStacks).optional(),
  ProjectID: text('Id of the project it belongs to').optional(),
  TargetLoadBalancerIDs: texts('Regional load balancers behind a GLOBAL one').optional(),
  GLBSettings: object('Settings of a GLOBAL load balancer', {
    target_protocol: choice('Protocol of the regional load balancers', ['http', 'https', 'http2']),
    target_port: int('Port of the regional load balancers, 80 or 443', 1, 65_535),
    cdn: z.object({ is_enabled: flag('Cache answers') }).optional(),
    region_priorities: z
      .record(z.string(), z.number().int())
      .describe('Region to priority, lower first, for example {"nyc3": 1, "fra1": 2}')
      .optional(),
    failover_threshold: int(
      'Percent of failed targets at which the next region takes over',
      1,
      99,
    ).optional(),
  }).optional(),
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
    about:
      'Create a load balancer in front of instances, or a global one in front of regional ones.',
    args: {
      Name: text('Name, for example web-1'),
      ...settings,
      Type: choice('Kind of load balancer', balancerTypes).default('REGIONAL'),
      Network: choice('Reachable from outside or from its VPC only', networks).default('EXTERNAL'),
    },
    request: (a) => ({ body: creationOf(a) }),
  }),
  'load-balancer-update': script({
    title: 'Update load balancer',
    about: 'Change a load balancer; what is not given stays as it is.',
    effect: 'change',
    uses: [loadBalancers.get, loadBalancers.update],
    args: {
      LoadBalancerID,
      Name: text('Name, for example web-1'),
      ...settings,
      Type: choice('Kind of load balancer', balancerTypes).optional(),
      Network: choice('Reachable from outside or from its VPC only', networks).optional(),
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
    about: 'Delete a load balancer.',
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
    about: 'Get a load balancer.',
    args: { LoadBalancerID },
    request: (a) => ({ path: { id: a.LoadBalancerID } }),
  }),
  'load-balancer-list': call(loadBalancers.list, {
    title: 'List load balancers',
    about: 'List the load balancers of the account.',
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
