import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spec } from '../spec/spec.ts'
import { clusters } from './answers.ts'
import { uuid } from './sample.ts'

type Args = Record<string, unknown>

/** What most arguments are called with, by name. */
const usual: Args = {
  id: clusters.pg,
  ID: uuid,
  UUID: uuid,
  LoadBalancerID: uuid,
  NamespaceID: 'fn-1',
  ActionName: 'hello',
  PackageName: 'tools',
  TriggerName: 'nightly',
  ActivationID: 'a'.repeat(32),
  KeyID: 'dof_v1_1',
  Name: 'web-1',
  name: 'web-1',
  user: 'reporting',
  Domain: 'example.com',
  RecordID: 7,
  Region: 'nyc3',
  IP: '192.0.2.10',
  Type: 'ipv4',
  Tags: ['web'],
  InstanceIDs: [3164444],
  version: '17',
  migration_id: uuid,
  eval_run_uuid: uuid,
  evaluation_run_uuid: uuid,
  eval_preset_uuid: uuid,
  dataset_uuid: uuid,
  test_case_uuid: uuid,
  confirm_deletion: true,
  confirm_cancel: true,
  run_name: 'nightly',
  agent_deployment_names: ['support-v2'],
  agent_workspace_name: 'support',
  candidate_model_name: 'acme-small',
  judge_model_name: 'Acme Small',
  user_message: 'yes',
}

const key = { ID: 512189 }
const record = { Type: 'A', Name: 'www', Data: '192.0.2.1' }
const forwarding = {
  ForwardingRules: [
    { EntryProtocol: 'http', EntryPort: 80, TargetProtocol: 'http', TargetPort: 8080 },
  ],
}
const rules = { InboundRules: [{ Protocol: 'tcp', PortRange: '22', Sources: ['192.0.2.0/24'] }] }

const folder = mkdtempSync(join(tmpdir(), 'cove-calls-'))
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const agentFile = file('agent.csv', 'query\n"{""question"":""why?""}"\n')
const modelFile = file('model.jsonl', '{"input":"why?","ground_truth":"because"}\n')

/** Arguments that a tool needs beside the usual ones, or in their place. */
const special: Record<string, Args> = {
  'action-get': key,
  'key-create': { PublicKey: 'ssh-ed25519 AAAA me@laptop' },
  'key-delete': key,
  'key-get': key,
  'db-cluster-create': {
    engine: 'pg',
    region: 'nyc3',
    size: 'db-s-1vcpu-1gb',
    num_nodes: 1,
    tags: 'a, b',
  },
  'db-cluster-resize': { size: 'db-s-2vcpu-4gb' },
  'db-cluster-start-online-migration': { source: { host: 'db.example.com', port: 5432 } },
  'db-cluster-update-firewall-rules': { rules: [{ type: 'ip_addr', value: '192.0.2.1' }] },
  'db-cluster-create-topic': { partition_count: '3', config: { retention_ms: 1000 } },
  'db-cluster-update-topic': { partition_count: 4 },
  'db-cluster-get-kafka-config': { id: clusters.kafka },
  'db-cluster-update-kafka-config': { id: clusters.kafka, config: { log_retention_hours: 24 } },
  'db-cluster-get-mongodb-config': { id: clusters.mongodb },
  'db-cluster-update-mongodb-config': { id: clusters.mongodb, config: { verbosity: 2 } },
  'db-cluster-get-mysql-config': { id: clusters.mysql },
  'db-cluster-update-mysql-config': { config_json: '{"connect_timeout": 10}' },
  'db-cluster-set-sql-mode': { modes: 'ansi, TRADITIONAL' },
  'db-cluster-get-opensearch-config': { id: clusters.opensearch },
  'db-cluster-update-os-config': { id: clusters.opensearch, config: { ism_enabled: false } },
  'db-cluster-update-psql-config': { config: { jit: false } },
  'db-cluster-get-redis-config': { id: clusters.redis },
  'db-cluster-update-redis-config': { id: clusters.valkey, config: { redis_timeout: 60 } },
  'db-cluster-create-user': { name: 'reporting' },
  'functions-create-namespace': { Label: 'shop', Region: 'nyc1' },
  'functions-create-access-key': { Name: 'ci', ExpiresIn: '24h' },
  'functions-create-or-update-action': { Code: 'exports.main = () => ({})', Kind: 'nodejs:20' },
  'functions-create-trigger': { Name: 'nightly', Function: 'hello', Cron: '0 3 * * *' },
  'functions-update-trigger': { Body: { kind: 'nightly' } },
  'domain-create': { Name: 'example.com', IPAddress: '192.0.2.1' },
  'domain-delete': { Name: 'example.com' },
  'domain-get': { Name: 'example.com' },
  'domain-record-create': record,
  'domain-record-edit': record,
  'custom-certificate-create': {
    PrivateKey: 'a key',
    LeafCertificate: 'a leaf',
    CertificateChain: 'a chain',
  },
  'acme-certificate-create': { DnsNames: ['example.com', '*.example.com'] },
  'firewall-create': {
    InboundProtocol: 'tcp',
    InboundPortRange: '80',
    InboundSource: '0.0.0.0/0',
    OutboundProtocol: 'udp',
    OutboundPortRange: 'all',
    OutboundDestination: '0.0.0.0/0',
  },
  'firewall-add-rules': rules,
  'firewall-remove-rules': rules,
  'load-balancer-create': {
    ...forwarding,
    Type: 'REGIONAL',
    Region: 'nyc3',
    InstanceIDs: ['3164444'],
  },
  'load-balancer-update': { Name: 'web-2' },
  'load-balancer-add-forwarding-rules': forwarding,
  'load-balancer-remove-forwarding-rules': forwarding,
  'reserved-ip-assign': { InstanceID: 3164444 },
  'vpc-peering-create': { Vpc1: uuid, Vpc2: uuid.replace('1', '2') },
  'byoip-prefix-create': { Prefix: '203.0.113.0/24', Signature: 'signed' },
  'genai-inference-router-create': {
    FallbackModels: ['acme-small'],
    PoliciesJson: '[{"task_slug":"summarization","models":["acme-small"]}]',
  },
  'genai-inference-router-update': { Description: 'new' },
  'genai-list-evaluation-test-cases': { agent_workspace_name: 'support' },
  'genai-create-evaluation-dataset': { file_path: agentFile },
  'genai-create-evaluation-test-case': { agent_workspace_name: 'support', metrics: [uuid] },
  'genai-update-evaluation-test-case': { description: 'new' },
  'genai-run-evaluation-workflow': {
    dataset_file_path: agentFile,
    workspace_name: 'support',
    test_case_name: 'quality',
  },
  'genai-model-eval-list-runs': { status: 'QUEUED', page: 1, per_page: 20 },
  'genai-model-eval-create-dataset': { file_path: modelFile },
  'genai-model-eval-create-run': {
    dataset_uuid: uuid,
    judge_model_name: 'Acme Small',
    user_message: 'yes',
  },
  'genai-model-eval-run-workflow': { dataset_file_path: modelFile, user_message: 'yes' },
}

/** A good call of every tool: what the specification requires, and what its rules ask for. */
export const calls: [tool: string, args: Args][] = Object.values(spec)
  .flatMap((tools) => Object.entries(tools))
  .map(([tool, args]) => {
    const required = Object.keys(args).filter((name) => args[name]?.required)
    const given = Object.fromEntries(required.map((name) => [name, usual[name]]))
    return [tool, { ...given, ...special[tool] }]
  })
