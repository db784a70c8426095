import type { Vault } from '#engines/certificates/vault.ts'
import type { Balancer, Global, KeyPair, Listener, Target } from '#engines/haproxy/model.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { taggedWith } from '../../compute/tags/taggings.ts'
import { certificateRecords, keyLabel } from '../certificates/records.ts'
import type { BalancerSettings } from './contract.ts'
import { type BalancerState, balancerRecords } from './records.ts'
import { healthCheckOf, nodes, rulesOf } from './shape.ts'

/** One node takes this many connections, as the public API's do. */
const connectionsOfNode = 10_000
/** Regions without a priority come after all that have one. */
const lastPriority = Number.MAX_SAFE_INTEGER

/** Something the balancer needs is on its way: no fault, but nothing to serve yet. */
export class NotYet extends Error {}

/** The balancer with all it refers to looked up: instances, tags, certificates, other balancers. */
export const specOf = async (
  store: Store,
  vault: Vault,
  state: BalancerState,
): Promise<Balancer> => {
  const { settings } = state
  const health = healthCheckOf(settings)
  const sticky = settings.sticky_sessions
  const sources = settings.firewall ?? { allow: [], deny: [] }
  const bare = (source: string) => source.replace(/^(ip|cidr):/, '')
  const keys = createKeyring(store, vault)
  const isGlobal = settings.type === 'GLOBAL'
  return {
    id: state.id,
    address: state.address,
    listeners: await (isGlobal
      ? globalListeners(settings, keys)
      : regionalListeners(settings, keys)),
    targets: await targetsOf(store, settings),
    health: {
      protocol: health.protocol,
      port: health.port,
      path: health.path,
      interval: health.check_interval_seconds,
      timeout: health.response_timeout_seconds,
      fall: health.unhealthy_threshold,
      rise: health.healthy_threshold,
    },
    ...(sticky?.type === 'cookies' && {
      sticky: { cookie: sticky.cookie_name ?? '', seconds: sticky.cookie_ttl_seconds ?? 0 },
    }),
    leastConnections: settings.algorithm === 'least_connections',
    redirectToHttps: settings.redirect_http_to_https,
    proxyProtocol: settings.enable_proxy_protocol,
    keepalive: settings.enable_backend_keepalive,
    idleSeconds: settings.http_idle_timeout_seconds,
    allow: sources.allow.map(bare),
    deny: sources.deny.map(bare),
    strongCiphers: settings.tls_cipher_policy === 'STRONG',
    mostConnections: connectionsOfNode * nodes(settings),
    ...(isGlobal && { global: await globalOf(store, settings) }),
  }
}

/** Numbers of the instances behind a balancer now. */
export const membersOf = async (store: Store, settings: BalancerSettings): Promise<number[]> => {
  if (!settings.tag) return settings.droplet_ids
  return (await taggedWith(store, 'droplet', [settings.tag])).map(Number)
}

const targetsOf = async (store: Store, settings: BalancerSettings): Promise<Target[]> => {
  const ids = await membersOf(store, settings)
  if (ids.length === 0) return []
  const found = await store.collection(dropletRecords).list({ where: { id: ids } })
  return found.flatMap(({ id, ip_address, public_ip }) => {
    const address = ip_address ?? public_ip
    return address ? [{ id: String(id), address }] : []
  })
}

type Keyring = (id: string) => Promise<KeyPair>

const createKeyring =
  (store: Store, vault: Vault): Keyring =>
  async (id) => {
    const {
      state,
      chain,
      sealed_key: sealed,
      name,
    } = await store.collection(certificateRecords).require(id)
    if (state === 'pending') throw new NotYet(`Certificate ${name} is not issued yet.`)
    if (!chain || !sealed) throw new Error(`Certificate ${name} could not be issued.`)
    return { id, pem: `${vault.open(sealed, keyLabel(id)).trim()}\n${chain}` }
  }

const regionalListeners = (settings: BalancerSettings, keys: Keyring): Promise<Listener[]> =>
  Promise.all(
    settings.forwarding_rules.map(async (rule) => ({
      protocol: rule.entry_protocol,
      port: rule.entry_port,
      targetProtocol: rule.target_protocol,
      targetPort: rule.target_port,
      passthrough: rule.tls_passthrough,
      certificates: rule.certificate_id ? [await keys(rule.certificate_id)] : [],
    })),
  )

/** A global balancer also serves the certificates of its domains. */
const globalListeners = async (settings: BalancerSettings, keys: Keyring): Promise<Listener[]> => {
  const ids = settings.domains.flatMap(({ certificate_id: id }) => id ?? [])
  const certificates = await Promise.all([...new Set(ids)].map(keys))
  const listeners = await regionalListeners(
    { ...settings, forwarding_rules: rulesOf(settings) },
    keys,
  )
  return listeners.map((listener) => {
    const own = listener.certificates.map(({ id }) => id)
    const others = certificates.filter(({ id }) => !own.includes(id))
    return { ...listener, certificates: [...listener.certificates, ...others] }
  })
}

const globalOf = async (store: Store, settings: BalancerSettings): Promise<Global> => {
  const wanted = settings.glb_settings
  if (!wanted) throw new Error('A global load balancer needs glb_settings.')
  const levels = new Map<number, Global['levels'][number]>()
  for (const id of settings.target_load_balancer_ids) {
    const regional = await store.collection(balancerRecords).get(id)
    if (!regional || regional.deleting) continue
    const serves = regional.settings.forwarding_rules.some(
      (rule) => rule.entry_port === wanted.target_port && rule.entry_protocol !== 'udp',
    )
    if (!serves) {
      throw new Error(
        `Load balancer ${regional.name} has no forwarding rule for port ${wanted.target_port}, the target_port of glb_settings.`,
      )
    }
    const priority = wanted.region_priorities[regional.settings.region ?? ''] ?? lastPriority
    const { length: targets } = await targetsOf(store, regional.settings)
    const level = levels.get(priority) ?? []
    levels.set(priority, [...level, { id, address: regional.address, targets }])
  }
  return {
    protocol: wanted.target_protocol,
    port: wanted.target_port,
    cached: wanted.cdn.is_enabled,
    threshold: wanted.failover_threshold,
    levels: [...levels].sort(([a], [b]) => a - b).map(([, level]) => level),
  }
}

/** What of a balancer is kept but not served on this machine, in words. */
export const limitsOf = (settings: BalancerSettings): string[] => {
  const { forwarding_rules: rules, network_stack: stack, network, domains } = settings
  const http3 = rules.filter(({ entry_protocol: protocol }) => protocol === 'http3')
  return [
    ...http3.map(
      ({ entry_port: port }) =>
        `http3 on port ${port} is not served, since HAProxy here has no QUIC; http2 and https are served there.`,
    ),
    ...(stack === 'DUALSTACK'
      ? ['IPv6 is not served: on this machine a load balancer has an IPv4 address only.']
      : []),
    ...(network === 'INTERNAL'
      ? ['network INTERNAL is kept; the address can be reached from this whole machine.']
      : []),
    ...(domains.some(({ is_managed: managed }) => managed)
      ? ['domains with is_managed are kept; their address records are yours to create.']
      : []),
  ]
}
