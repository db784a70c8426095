import { configFields } from '#services/databases/config/fields.ts'
import type { Asked } from './cloud.ts'
import { dataPlaneHost, uploadHost } from './data-plane.ts'
import { stamp, uuid } from './sample.ts'

/** Clusters by engine: the settings of one say what it is. */
export const clusters = Object.fromEntries(
  Object.keys(configFields).map((engine, index) => [engine, `${uuid.slice(0, -1)}${index}`]),
) as Record<keyof typeof configFields, string>

const metric = {
  metric_uuid: uuid,
  metric_name: 'Correctness',
  category: 'METRIC_CATEGORY_CORRECTNESS',
  metric_type: 'METRIC_TYPE_GENERAL_QUALITY',
  metric_value_type: 'METRIC_VALUE_TYPE_NUMBER',
  evaluation_scope: 'EVALUATION_SCOPE_AGENT',
  source: 'EVALUATION_METRIC_SOURCE_BUILTIN',
  description: 'Whether it is right',
  inverted: false,
  is_metric_goal: false,
  metric_rank: 1,
  range_min: 0,
  range_max: 100,
}
const model = { uuid, id: 'acme-small', name: 'Acme Small' }
const onePage = { page: 1, pages: 1, total: 1 }
const dataset = {
  dataset_uuid: uuid,
  dataset_name: 'qa',
  dataset_type: 'EVALUATION_DATASET_TYPE_MODEL',
  file_size: '400',
  row_count: 10,
  has_ground_truth: true,
  created_at: stamp,
}

/** Settings that fit each other, as a change sends them back. */
const balancer = {
  id: uuid,
  name: 'web-1',
  project_id: uuid,
  ip: '192.0.2.80',
  ipv6: '',
  size_unit: 1,
  size: 'lb-small',
  algorithm: 'round_robin',
  status: 'active',
  created_at: stamp,
  forwarding_rules: [
    {
      entry_protocol: 'https',
      entry_port: 443,
      target_protocol: 'http',
      target_port: 8080,
      certificate_id: uuid,
      tls_passthrough: false,
    },
  ],
  health_check: {
    protocol: 'http',
    port: 8080,
    path: '/health',
    check_interval_seconds: 10,
    response_timeout_seconds: 5,
    unhealthy_threshold: 3,
    healthy_threshold: 5,
  },
  sticky_sessions: { type: 'none' },
  redirect_http_to_https: true,
  http_idle_timeout_seconds: 90,
  vpc_uuid: uuid,
  firewall: { deny: ['cidr:198.51.100.0/24'], allow: [] },
  network: 'EXTERNAL',
  network_stack: 'IPV4',
  type: 'REGIONAL',
  domains: [],
  glb_settings: undefined,
  target_load_balancer_ids: [],
  tls_cipher_policy: 'STRONG',
  region: { slug: 'nyc3', name: 'New York 3', features: [], available: true, sizes: [] },
  droplet_ids: [3164444],
  tag: '',
}

type Body = Record<string, unknown>
type Change = (usual: Body, asked: Asked) => unknown

const uploads = (usual: Body) => ({
  ...usual,
  uploads: [
    {
      object_key: 'k/1',
      presigned_url: `https://${uploadHost}/put?sig=1`,
      original_file_name: 'x',
      expires_at: stamp,
    },
  ],
})
const within =
  (key: string, more: Body): Change =>
  (usual) => ({ ...usual, [key]: { ...(usual[key] as Body), ...more } })
const replaced =
  (more: Body): Change =>
  (usual) => ({ ...usual, ...more })

const configOf: Change = (usual, { values }) => {
  const engine = Object.entries(clusters).find(([, id]) => id === values.id)?.[0] ?? 'pg'
  const config: Record<string, Body> = {
    pg: { jit: true },
    mysql: { connect_timeout: 10 },
    redis: { redis_timeout: 300 },
    valkey: { valkey_timeout: 300 },
    kafka: { log_retention_hours: 168 },
    opensearch: { ism_enabled: true },
    mongodb: { verbosity: 1 },
  }
  return { ...usual, config: config[engine] }
}

/** Where one answer must fit another, or the arguments of a call. */
export const usualAnswers: Record<string, (usual: never, asked: Asked) => unknown> = {
  'GET /v2/functions/namespaces/:namespace_id': within('namespace', {
    namespace: 'fn-1',
    api_host: `https://${dataPlaneHost}`,
  }),
  'GET /v2/load_balancers/:id': within('load_balancer', balancer),
  'PUT /v2/load_balancers/:id': within('load_balancer', balancer),
  'POST /v2/load_balancers': within('load_balancer', balancer),
  'GET /v2/databases/:id/config': configOf,
  'POST /v2/gen-ai/evaluation_datasets/file_upload_presigned_urls': uploads,
  'POST /v2/gen-ai/model_evaluation/datasets/file_upload_presigned_urls': uploads,
  'GET /v2/gen-ai/evaluation_metrics': replaced({ metrics: [metric] }),
  'GET /v2/gen-ai/model_evaluation_metrics': replaced({ metrics: [metric] }),
  'GET /v2/gen-ai/models': replaced({ models: [model], meta: onePage }),
  'GET /v2/gen-ai/custom_models': replaced({ models: [], meta: onePage }),
  'GET /v2/gen-ai/evaluation_datasets': replaced({ evaluation_datasets: [dataset] }),
  'POST /v2/gen-ai/evaluation_runs': replaced({ evaluation_run_uuids: [uuid] }),
  'GET /v2/gen-ai/evaluation_runs/:evaluation_run_uuid': within('evaluation_run', {
    evaluation_run_uuid: uuid,
    status: 'EVALUATION_RUN_SUCCESSFUL',
  }),
  'GET /v2/gen-ai/model_evaluation_runs/:eval_run_uuid': within('run', {
    eval_run_uuid: uuid,
    status: 'MODEL_EVALUATION_RUN_SUCCESSFUL',
  }),
}
