import type { Json } from './api.ts'

/** A kind of resource that the console lists: where it is in the API and what a row shows. */
export interface Kind {
  label: string
  area: string
  /** The list, and below it the single resource. */
  path: string
  key: string
  id: string
  columns: readonly string[]
}

const kind = (
  area: string,
  label: string,
  path: string,
  key: string,
  id: string,
  ...columns: string[]
): Kind => ({
  area,
  label,
  path,
  key,
  id,
  columns,
})

export const kinds: readonly Kind[] = [
  kind(
    'Databases',
    'Clusters',
    '/v2/databases',
    'databases',
    'id',
    'name',
    'engine',
    'version',
    'status',
    'num_nodes',
  ),
  kind(
    'Functions',
    'Namespaces',
    '/v2/functions/namespaces',
    'namespaces',
    'namespace',
    'label',
    'region',
    'api_host',
  ),
  kind('Networking', 'Domains', '/v2/domains', 'domains', 'name', 'name', 'ttl'),
  kind(
    'Networking',
    'Certificates',
    '/v2/certificates',
    'certificates',
    'id',
    'name',
    'state',
    'type',
    'not_after',
  ),
  kind(
    'Networking',
    'Load balancers',
    '/v2/load_balancers',
    'load_balancers',
    'id',
    'name',
    'status',
    'ip',
    'type',
  ),
  kind('Networking', 'Firewalls', '/v2/firewalls', 'firewalls', 'id', 'name', 'status'),
  kind('Networking', 'VPCs', '/v2/vpcs', 'vpcs', 'id', 'name', 'region', 'ip_range', 'default'),
  kind('Networking', 'Reserved IPs', '/v2/reserved_ips', 'reserved_ips', 'ip', 'ip', 'region'),
  kind(
    'Compute',
    'Instances',
    '/v2/droplets',
    'droplets',
    'id',
    'name',
    'status',
    'size_slug',
    'tags',
  ),
  kind(
    'Gen-AI',
    'Knowledge bases',
    '/v2/gen-ai/knowledge_bases',
    'knowledge_bases',
    'uuid',
    'name',
    'region',
  ),
  kind(
    'Gen-AI',
    'Inference routers',
    '/v2/gen-ai/models/routers',
    'model_routers',
    'uuid',
    'name',
    'description',
  ),
  kind(
    'Gen-AI',
    'Evaluation runs',
    '/v2/gen-ai/model_evaluation_runs',
    'runs',
    'eval_run_uuid',
    'name',
    'status',
    'candidate_model_name',
  ),
  kind('Account', 'SSH keys', '/v2/account/keys', 'ssh_keys', 'id', 'name', 'fingerprint'),
]

export const slugOf = (kind: Kind): string => kind.label.toLowerCase().replaceAll(' ', '-')

/** A cell as text: lists joined, objects by the name they carry. */
export const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cell).join(', ')
  if (typeof value !== 'object') return String(value)
  const { name, slug } = value as Json
  return String(slug ?? name ?? JSON.stringify(value))
}
