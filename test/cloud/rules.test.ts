import { afterAll, expect, test } from 'vitest'
import { assistant } from './assistant.ts'
import { calls } from './calls.ts'

type Args = Record<string, unknown>

const together = ['Components', 'Kind sequence']
const balancer = 'load-balancer-create'
const policies = (json: unknown): Args => ({ PoliciesJson: json })
const create = 'genai-inference-router-create'
const agents = 'genai-run-evaluation-workflow'

/** Calls that break a rule, and the words of the refusal; `undefined` takes an argument away. */
const broken: [tool: string, args: Args, says: string[]][] = [
  ['db-cluster-resize', { size: undefined }, ['size', 'num_nodes', 'storage_size_mib']],
  [
    'genai-list-evaluation-test-cases',
    { agent_workspace_name: undefined },
    ['workspace_uuid', 'agent_workspace_name'],
  ],
  [
    'genai-create-evaluation-test-case',
    { agent_workspace_name: undefined },
    ['workspace_uuid', 'agent_workspace_name'],
  ],
  [balancer, { Region: undefined }, ['Region', 'REGIONAL']],
  [balancer, { ForwardingRules: undefined }, ['ForwardingRules', 'REGIONAL']],
  [balancer, { ForwardingRules: [] }, ['ForwardingRules']],
  [balancer, { Type: 'REGIONAL_NETWORK', Region: undefined }, ['Region', 'REGIONAL_NETWORK']],
  [balancer, { Type: 'GLOBAL', Region: undefined }, ['GLBSettings', 'GLOBAL']],
  [balancer, { Tag: 'web' }, ['InstanceIDs', 'Tag']],
  [balancer, { InstanceIDs: ['web-1'] }, ['InstanceIDs', 'number of an instance']],
  [
    'genai-inference-router-update',
    { Description: undefined },
    ['Name', 'Description', 'PoliciesJson', 'FallbackModels'],
  ],
  [
    'genai-inference-router-update',
    { Description: undefined, PoliciesJson: '' },
    ['Name', 'PoliciesJson'],
  ],
  [create, { FallbackModels: [] }, ['FallbackModels', 'at least 1']],
  [create, policies('not json'), ['PoliciesJson', 'JSON array']],
  [create, policies('{"task_slug":"x"}'), ['PoliciesJson', 'list']],
  [create, policies('[{"models":["m"]}]'), ['policy 0 task is required']],
  [
    create,
    policies('[{"task_slug":"x","custom_task":{"name":"a","description":"b"},"models":["m"]}]'),
    ['task_slug', 'custom_task'],
  ],
  ['db-cluster-update-mysql-config', { config_json: 'nonsense' }, ['config_json', 'not JSON']],
  ['db-cluster-update-mysql-config', { config_json: '[1]' }, ['config_json', 'JSON object']],
  ['db-cluster-update-mysql-config', { config_json: '{}' }, ['config_json', 'at least one']],
  ['db-cluster-update-mysql-config', { config_json: '{"no_such":1}' }, ['no_such', 'wait_timeout']],
  ['db-cluster-update-psql-config', { config: {} }, ['config', 'at least one']],
  ['db-cluster-update-psql-config', { config: { jt: true } }, ['jt', 'its fields', 'work_mem']],
  ['db-cluster-update-mongodb-config', { config: { verbosity: 6 } }, ['verbosity', 'at most 5']],
  ['db-cluster-set-sql-mode', { modes: 'ANSI; DROP' }, ['modes', 'ANSI']],
  ['genai-model-eval-delete-run', { confirm_deletion: false }, ['confirm_deletion', 'true']],
  ['genai-model-eval-delete-preset', { confirm_deletion: false }, ['confirm_deletion', 'true']],
  ['genai-model-eval-delete-dataset', { confirm_deletion: 'false' }, ['confirm_deletion', 'true']],
  ['genai-model-eval-cancel-run', { confirm_cancel: false }, ['confirm_cancel', 'true']],
  ['genai-model-eval-create-run', { dataset_uuid: undefined }, ['dataset_uuid', 'preset']],
  ['genai-model-eval-create-run', { judge_model_name: undefined }, ['judge_model_name', 'preset']],
  ['genai-run-evaluation-test-case', { agent_deployment_names: [] }, ['agent_deployment_names']],
  [agents, { agent_deployment_names: [] }, ['step 1', 'agent_deployment_names']],
  [agents, { dataset_file_path: '/no/such.csv' }, ['step 1', '/no/such.csv']],
  ['genai-create-evaluation-dataset', { file_path: '/data/qa.txt' }, ['.csv']],
  ['genai-model-eval-create-dataset', { file_path: '/data/qa.txt' }, ['.csv', '.jsonl']],
  ['firewall-add-rules', { InboundRules: undefined }, ['InboundRules', 'OutboundRules']],
  ['firewall-remove-rules', { InboundRules: [] }, ['InboundRules', 'OutboundRules']],
  ['reserved-ip-assign', { Type: 'ipv6' }, ['IP', 'Type']],
  ['reserved-ip-release', { IP: '2001:db8::1' }, ['IP', 'Type']],
  ['vpc-peering-create', { Vpc1: 'v', Vpc2: 'v' }, ['Vpc1', 'Vpc2']],
  ['functions-create-access-key', { Name: 'mcp-svc-mine' }, ['Name', 'mcp-svc-', 'reserved']],
  ['functions-create-access-key', { ExpiresIn: '30m' }, ['ExpiresIn']],
  ['functions-update-trigger', { Body: undefined }, ['IsEnabled', 'Cron', 'Body']],
  ['functions-create-or-update-action', { Components: ['a'] }, together],
  ['functions-create-or-update-action', { Kind: 'blackbox', Code: undefined }, ['Image']],
  ['functions-create-or-update-action', { Kind: 'sequence', Code: undefined }, ['Components']],
  ['functions-list-actions', { Limit: 201 }, ['Limit', 'at most 200']],
  ['functions-invoke-action', { InvokeTimeout: 60_001 }, ['InvokeTimeout', 'at most 60000']],
  ['genai-inference-router-list', { PerPage: 1001 }, ['PerPage', 'at most 1000']],
  ['action-get', { ID: 'seven' }, ['ID', 'number']],
  ['domain-get', { Domain: 'example.com' }, ['Domain', 'Its arguments: Name']],
]

const { call, asked, close } = await assistant()
afterAll(close)

test.each(broken)('%s refuses %j before anything is sent', async (tool, args, says) => {
  asked.length = 0
  const [, good = {}] = calls.find(([name]) => name === tool) ?? []
  const given = Object.entries({ ...good, ...args }).filter(([, value]) => value !== undefined)
  const { failed, text } = await call(tool, Object.fromEntries(given))
  expect(failed, text).toBe(true)
  for (const words of says) expect(text).toContain(words)
  expect(asked).toEqual([])
})
