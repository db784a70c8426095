import { regionBySlug } from '../../compute/regions/contract.ts'
import type { BalancerSettings, HealthCheck, LoadBalancer } from './contract.ts'
import type { BalancerState } from './records.ts'
import type { ForwardingRule } from './rule.ts'

/** Projects are not kept yet: everything is in the one that an account begins with. */
const defaultProject = '00000000-0000-4000-8000-000000000000'

const nodesOf = { 'lb-small': 1, 'lb-medium': 3, 'lb-large': 6 } as const

export const nodes = ({ size_unit, size }: BalancerSettings): number =>
  size_unit || nodesOf[size ?? 'lb-small']

/**
 * The check for those who ask for none: that the first rule's port answers, since that is what
 * clients will ask of a target.
 */
export const healthCheckOf = (settings: BalancerSettings): HealthCheck => {
  if (settings.health_check) return settings.health_check
  const [rule] = settings.forwarding_rules
  const plain = rule?.target_protocol === 'http' || rule?.target_protocol === 'https'
  const protocol =
    plain && !rule.tls_passthrough ? (rule.target_protocol as 'http' | 'https') : 'tcp'
  return {
    protocol: settings.glb_settings ? 'http' : protocol,
    port: rule?.target_port ?? 80,
    path: '/',
    check_interval_seconds: 10,
    response_timeout_seconds: 5,
    unhealthy_threshold: 5,
    healthy_threshold: 3,
  }
}

/** A global balancer without rules listens on 80, and on 443 once one of its domains is certified. */
export const rulesOf = (settings: BalancerSettings): ForwardingRule[] => {
  const { forwarding_rules: rules, glb_settings: global, domains } = settings
  if (rules.length > 0 || !global) return rules
  const { target_protocol, target_port } = global
  const target = { target_protocol, target_port, tls_passthrough: false }
  const certified = domains.find(({ certificate_id: id }) => id)?.certificate_id
  return [
    { entry_protocol: 'http', entry_port: 80, certificate_id: '', ...target },
    ...(certified
      ? [
          {
            entry_protocol: 'http2',
            entry_port: 443,
            certificate_id: certified,
            ...target,
          } as const,
        ]
      : []),
  ]
}

/** A load balancer as the API answers it; `members` are the instances behind it now. */
export const asBalancer = (state: BalancerState, members: number[]): LoadBalancer => {
  const { settings } = state
  const { type, sticky_sessions: sticky } = settings
  const region = settings.region === undefined ? undefined : regionBySlug(settings.region)
  return {
    id: state.id,
    name: state.name,
    project_id: settings.project_id ?? defaultProject,
    ip: state.status === 'active' ? state.address : '',
    ipv6: '',
    size_unit: nodes(settings),
    size: settings.size ?? 'lb-small',
    algorithm: settings.algorithm,
    status: state.status,
    created_at: state.created_at,
    forwarding_rules: rulesOf(settings),
    health_check: healthCheckOf(settings),
    sticky_sessions:
      sticky?.type === 'cookies'
        ? {
            type: sticky.type,
            cookie_name: sticky.cookie_name ?? '',
            cookie_ttl_seconds: sticky.cookie_ttl_seconds ?? 0,
          }
        : { type: 'none' },
    redirect_http_to_https: settings.redirect_http_to_https,
    enable_proxy_protocol: settings.enable_proxy_protocol,
    enable_backend_keepalive: settings.enable_backend_keepalive,
    http_idle_timeout_seconds: settings.http_idle_timeout_seconds,
    ...(settings.vpc_uuid && { vpc_uuid: settings.vpc_uuid }),
    disable_lets_encrypt_dns_records: settings.disable_lets_encrypt_dns_records,
    firewall: settings.firewall ?? { deny: [], allow: [] },
    network: settings.network,
    network_stack: settings.network_stack,
    type,
    tls_cipher_policy: settings.tls_cipher_policy,
    ...(region && { region }),
    droplet_ids: members,
    tag: settings.tag ?? '',
    ...(type === 'GLOBAL' && {
      domains: settings.domains,
      target_load_balancer_ids: settings.target_load_balancer_ids,
      ...(settings.glb_settings && { glb_settings: settings.glb_settings }),
    }),
  }
}
