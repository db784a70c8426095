import { z } from 'zod'
import { DomainName, isAddress, isAddressOrBlock } from '#core/host.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'
import { Region, RegionSlug } from '../../compute/regions/contract.ts'
import { encrypted, ForwardingRule, ForwardingRules } from './rule.ts'

export const balancerTypes = ['REGIONAL', 'REGIONAL_NETWORK', 'GLOBAL'] as const
export const networks = ['EXTERNAL', 'INTERNAL'] as const
export const networkStacks = ['IPV4', 'DUALSTACK'] as const

const orDefault = <T extends z.ZodType>(schema: T, value: z.output<T>) =>
  z
    .preprocess((given) => (given === null || given === '' ? undefined : given), schema.optional())
    .transform((given) => given ?? value)

const HealthCheck = z.object({
  protocol: orDefault(z.enum(['http', 'https', 'tcp']), 'http'),
  port: orDefault(z.number().int().min(1).max(65_535), 80),
  path: orDefault(z.string().regex(/^\/[\x21-\x7e]*$/, 'must be a path such as /health'), '/'),
  check_interval_seconds: orDefault(z.number().int().min(3).max(300), 10),
  response_timeout_seconds: orDefault(z.number().int().min(3).max(300), 5),
  unhealthy_threshold: orDefault(z.number().int().min(2).max(10), 5),
  healthy_threshold: orDefault(z.number().int().min(2).max(10), 3),
})
export type HealthCheck = z.output<typeof HealthCheck>

const StickySessions = z
  .object({
    type: orDefault(z.enum(['none', 'cookies']), 'none'),
    cookie_name: absentWhenEmpty(
      z.string().regex(/^[\w!#$%&'*+.^`|~-]{2,40}$/, 'must be a cookie name of 2 to 40 characters'),
    ),
    cookie_ttl_seconds: z.number().int().min(0).nullish(),
  })
  .superRefine((sticky, context) => {
    if (sticky.type !== 'cookies') return
    const say = (field: string) =>
      context.addIssue({ code: 'custom', path: [field], message: 'is required for type cookies' })
    if (!sticky.cookie_name) say('cookie_name')
    if (!sticky.cookie_ttl_seconds) say('cookie_ttl_seconds')
  })

const Source = z.string().refine((text) => {
  if (text.startsWith('ip:')) return isAddress(text.slice(3))
  return text.startsWith('cidr:') && text.includes('/') && isAddressOrBlock(text.slice(5))
}, 'must be ip: and an address or cidr: and a network, such as cidr:192.0.2.0/24')

const SourceRules = z.object({
  deny: orDefault(z.array(Source), []),
  allow: orDefault(z.array(Source), []),
})

const GlobalDomain = z.object({
  name: DomainName,
  is_managed: orDefault(z.boolean(), false),
  certificate_id: absentWhenEmpty(z.string()),
})

export const GlobalSettings = z.object({
  target_protocol: z.enum(['http', 'https', 'http2']),
  target_port: z.number().int().min(1).max(65_535),
  cdn: z
    .object({ is_enabled: orDefault(z.boolean(), false) })
    .nullish()
    .transform((cdn) => cdn ?? { is_enabled: false }),
  region_priorities: orDefault(z.record(z.string(), z.number().int().min(1)), {}),
  failover_threshold: orDefault(z.number().int().min(1).max(99), 50),
})
export type GlobalSettings = z.output<typeof GlobalSettings>

/** All that a caller may set, with the defaults of the public API. */
const settings = {
  name: z
    .string()
    .max(255)
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9.-]*$/, 'must be letters, digits, . and -, such as web-1'),
  project_id: absentWhenEmpty(Uuid),
  region: absentWhenEmpty(RegionSlug),
  type: orDefault(z.enum(balancerTypes), 'REGIONAL'),
  network: orDefault(z.enum(networks), 'EXTERNAL'),
  network_stack: orDefault(z.enum(networkStacks), 'IPV4'),
  size_unit: absentWhenEmpty(z.number().int().min(0).max(100)),
  size: absentWhenEmpty(z.enum(['lb-small', 'lb-medium', 'lb-large'])),
  algorithm: orDefault(z.enum(['round_robin', 'least_connections']), 'round_robin'),
  forwarding_rules: orDefault(ForwardingRules, []),
  health_check: HealthCheck.nullish(),
  sticky_sessions: StickySessions.nullish(),
  redirect_http_to_https: orDefault(z.boolean(), false),
  enable_proxy_protocol: orDefault(z.boolean(), false),
  enable_backend_keepalive: orDefault(z.boolean(), false),
  http_idle_timeout_seconds: orDefault(z.number().int().min(30).max(600), 60),
  vpc_uuid: absentWhenEmpty(Uuid),
  disable_lets_encrypt_dns_records: orDefault(z.boolean(), false),
  firewall: SourceRules.nullish(),
  droplet_ids: orDefault(z.array(z.number().int().min(1)), []),
  tag: absentWhenEmpty(z.string().max(255)),
  domains: orDefault(z.array(GlobalDomain), []),
  glb_settings: GlobalSettings.nullish(),
  target_load_balancer_ids: orDefault(z.array(z.string()), []),
  tls_cipher_policy: orDefault(z.enum(['DEFAULT', 'STRONG']), 'DEFAULT'),
}

const Settings = z.object(settings)
export type BalancerSettings = z.output<typeof Settings>

/** Rules between fields, as the public API has them. */
const check = (body: BalancerSettings, context: z.RefinementCtx): void => {
  const say = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message })
  if (body.droplet_ids.length > 0 && body.tag) say('tag', 'and droplet_ids exclude each other')
  if (body.type === 'GLOBAL') {
    if (body.region) say('region', 'must be left out for type GLOBAL')
    if (!body.glb_settings) say('glb_settings', 'is required for type GLOBAL')
    if (body.droplet_ids.length > 0 || body.tag) {
      say('droplet_ids', 'and tag must be left out for type GLOBAL; use target_load_balancer_ids')
    }
    return
  }
  if (body.forwarding_rules.length === 0) say('forwarding_rules', 'must have at least 1 item')
  for (const field of ['target_load_balancer_ids', 'domains'] as const) {
    if (body[field].length > 0) say(field, 'is for type GLOBAL only')
  }
  if (body.glb_settings) say('glb_settings', 'is for type GLOBAL only')
  const layer4 = body.forwarding_rules.every(({ entry_protocol: p }) => p === 'tcp' || p === 'udp')
  if (body.type === 'REGIONAL_NETWORK' && !layer4) {
    say('forwarding_rules', 'must be tcp or udp for type REGIONAL_NETWORK')
  }
  const tls = body.forwarding_rules.some((rule) => encrypted.has(rule.entry_protocol))
  if (body.redirect_http_to_https && !tls) {
    say('redirect_http_to_https', 'needs a forwarding rule with entry_protocol https or http2')
  }
}

export const NewLoadBalancer = Settings.superRefine((body, context) => {
  check(body, context)
  if (body.type !== 'GLOBAL' && !body.region) {
    context.addIssue({
      code: 'custom',
      path: ['region'],
      message: `is required for type ${body.type}`,
    })
  }
})

/** A region may be repeated, but not changed. */
export const LoadBalancerChange = Settings.superRefine(check)

export const LoadBalancer = z.object({
  id: Uuid,
  name: z.string(),
  project_id: z.string(),
  ip: z.string(),
  ipv6: z.string(),
  size_unit: z.number().int(),
  size: z.string(),
  algorithm: z.string(),
  status: z.enum(['new', 'active', 'errored']),
  created_at: Timestamp,
  forwarding_rules: z.array(ForwardingRule),
  health_check: HealthCheck,
  sticky_sessions: z.object({
    type: z.string(),
    cookie_name: z.string().optional(),
    cookie_ttl_seconds: z.number().int().optional(),
  }),
  redirect_http_to_https: z.boolean(),
  enable_proxy_protocol: z.boolean(),
  enable_backend_keepalive: z.boolean(),
  http_idle_timeout_seconds: z.number().int(),
  vpc_uuid: z.string().optional(),
  disable_lets_encrypt_dns_records: z.boolean(),
  firewall: z.object({ deny: z.array(z.string()), allow: z.array(z.string()) }),
  network: z.enum(networks),
  network_stack: z.enum(networkStacks),
  type: z.enum(balancerTypes),
  tls_cipher_policy: z.string(),
  region: Region.optional(),
  droplet_ids: z.array(z.number().int()),
  tag: z.string(),
  domains: z
    .array(
      z.object({
        name: z.string(),
        is_managed: z.boolean(),
        certificate_id: z.string().optional(),
      }),
    )
    .optional(),
  glb_settings: GlobalSettings.optional(),
  target_load_balancer_ids: z.array(z.string()).optional(),
})
export type LoadBalancer = z.output<typeof LoadBalancer>

const balancer = resource('load_balancer')
const members = z.object({ droplet_ids: z.array(z.number().int().min(1)).min(1) })
const rules = z.object({ forwarding_rules: ForwardingRules.min(1) })
const answer = one('load_balancer', LoadBalancer)

export const loadBalancers = {
  list: balancer.get('/v2/load_balancers', {
    query: Page,
    returns: listOf('load_balancers', LoadBalancer),
  }),
  create: balancer.post('/v2/load_balancers', {
    body: NewLoadBalancer,
    returns: answer,
    status: 202,
  }),
  get: balancer.get('/v2/load_balancers/:id', { returns: answer }),
  update: balancer.put('/v2/load_balancers/:id', { body: LoadBalancerChange, returns: answer }),
  delete: balancer.del('/v2/load_balancers/:id'),
  deleteCache: balancer.del('/v2/load_balancers/:id/cache'),
  addDroplets: balancer.post('/v2/load_balancers/:id/droplets', { body: members, act: 'update' }),
  removeDroplets: balancer.del('/v2/load_balancers/:id/droplets', { body: members, act: 'update' }),
  addRules: balancer.post('/v2/load_balancers/:id/forwarding_rules', {
    body: rules,
    act: 'update',
  }),
  removeRules: balancer.del('/v2/load_balancers/:id/forwarding_rules', {
    body: z.object({ forwarding_rules: z.array(ForwardingRule).min(1) }),
    act: 'update',
  }),
}
