import { z } from 'zod'
import { AddressOrBlock } from '#core/host.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

export const firewallProtocols = ['tcp', 'udp', 'icmp'] as const

/** `80`, `8000-8080`, or all ports: `0`, `all` and the empty text mean the same. */
export const PortRange = z
  .string()
  .refine(isPortRange, 'must be a port such as 80, a range such as 8000-8080, or all')

/** Whom a rule lets in or out to. */
export const Peers = z.object({
  addresses: z.array(AddressOrBlock).nullish(),
  droplet_ids: z.array(z.number().int()).nullish(),
  load_balancer_uids: z.array(z.string()).nullish(),
  kubernetes_ids: z.array(z.string()).nullish(),
  tags: z.array(z.string()).nullish(),
})
export type Peers = z.output<typeof Peers>

const rule = { protocol: z.enum(firewallProtocols), ports: PortRange.default('0') }
export const InboundRule = z.object({ ...rule, sources: Peers })
export const OutboundRule = z.object({ ...rule, destinations: Peers })
export type InboundRule = z.output<typeof InboundRule>
export type OutboundRule = z.output<typeof OutboundRule>

const rules = {
  inbound_rules: z.array(InboundRule).nullish(),
  outbound_rules: z.array(OutboundRule).nullish(),
}

const attachments = {
  droplet_ids: z.array(z.number().int()).nullish(),
  tags: z.array(z.string()).nullish(),
}

interface Rules {
  inbound_rules?: unknown[] | null | undefined
  outbound_rules?: unknown[] | null | undefined
}

const hasRule = (body: Rules): boolean =>
  Boolean(body.inbound_rules?.length || body.outbound_rules?.length)

const oneRule = {
  path: ['inbound_rules'],
  message: 'or outbound_rules must have at least 1 item',
}

export const NewFirewall = z
  .object({
    name: z
      .string()
      .max(255)
      .regex(/^[a-zA-Z0-9][a-zA-Z0-9.-]+$/, 'must be letters, digits, . and -, such as web-1'),
    ...rules,
    ...attachments,
  })
  .refine(hasRule, oneRule)
export type NewFirewall = z.output<typeof NewFirewall>

export const FirewallRules = z.object(rules).refine(hasRule, oneRule)

export const Firewall = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['waiting', 'succeeded', 'failed']),
  created_at: Timestamp,
  pending_changes: z.array(
    z.object({ droplet_id: z.number().int(), removing: z.boolean(), status: z.string() }),
  ),
  inbound_rules: z.array(InboundRule),
  outbound_rules: z.array(OutboundRule),
  droplet_ids: z.array(z.number().int()),
  tags: z.array(z.string()),
})
export type Firewall = z.output<typeof Firewall>

const firewall = resource('firewall')
const attached = {
  droplets: z.object({ droplet_ids: z.array(z.number().int()).min(1) }),
  tags: z.object({ tags: z.array(z.string()).min(1) }),
}
/** Firewalls answer 400 to invalid input, where the rest of the API answers 422. */
const change = <B extends z.ZodType>(body: B) => ({ body, act: 'update', invalid: 400 as const })

export const firewalls = {
  list: firewall.get('/v2/firewalls', { query: Page, returns: listOf('firewalls', Firewall) }),
  create: firewall.post('/v2/firewalls', {
    body: NewFirewall,
    returns: one('firewall', Firewall),
    status: 202,
    invalid: 400,
  }),
  get: firewall.get('/v2/firewalls/:id', { returns: one('firewall', Firewall) }),
  update: firewall.put('/v2/firewalls/:id', {
    body: NewFirewall,
    returns: one('firewall', Firewall),
    invalid: 400,
  }),
  delete: firewall.del('/v2/firewalls/:id'),
  /** The firewalls before one instance, whether by its number or by a tag. */
  ofDroplet: firewall.get('/v2/droplets/:id/firewalls', {
    query: Page,
    returns: listOf('firewalls', Firewall),
  }),
  addDroplets: firewall.post('/v2/firewalls/:id/droplets', change(attached.droplets)),
  removeDroplets: firewall.del('/v2/firewalls/:id/droplets', change(attached.droplets)),
  addTags: firewall.post('/v2/firewalls/:id/tags', change(attached.tags)),
  removeTags: firewall.del('/v2/firewalls/:id/tags', change(attached.tags)),
  addRules: firewall.post('/v2/firewalls/:id/rules', change(FirewallRules)),
  removeRules: firewall.del('/v2/firewalls/:id/rules', change(FirewallRules)),
}

function isPortRange(text: string): boolean {
  if (text === '' || text === 'all') return true
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text)
  if (!match) return false
  const from = Number(match[1])
  const to = Number(match[2] ?? match[1])
  return from <= to && to <= 65_535 && (from > 0 || match[2] === undefined)
}
