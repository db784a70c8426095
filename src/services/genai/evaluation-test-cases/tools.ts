import { ApiError } from '#core/error.ts'
import { anyText, text, texts } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { named } from '../steps.ts'
import { testCases } from './contract.ts'
import { starOf } from './star.ts'

const workspace = {
  workspace_uuid: text('This or agent_workspace_name is required').optional(),
  agent_workspace_name: text('Workspace name').optional(),
}

interface WorkspaceArgs {
  workspace_uuid?: string | undefined
  agent_workspace_name?: string | undefined
}

const workspaceOf = ({ workspace_uuid, agent_workspace_name }: WorkspaceArgs) => {
  if (workspace_uuid === undefined && agent_workspace_name === undefined) {
    throw ApiError.invalid('at least one of workspace_uuid or agent_workspace_name is required')
  }
  return { workspace_uuid, agent_workspace_name }
}

const metrics = texts('Metric UUIDs').optional()

export const testCaseTools = {
  'genai-list-evaluation-test-cases': named(
    'list evaluation test cases',
    call(testCases.list, {
      title: 'List test cases',
      about: 'List the evaluation test cases of a workspace.',
      args: workspace,
      request: (a) => ({ query: workspaceOf(a) }),
      result: ({ evaluation_test_cases, ...rest }) => ({
        test_cases: evaluation_test_cases,
        count: evaluation_test_cases.length,
        ...rest,
      }),
    }),
  ),

  'genai-create-evaluation-test-case': named(
    'create evaluation test case',
    call(testCases.create, {
      title: 'Create test case',
      about: 'Create an evaluation test case of a dataset and metrics.',
      args: {
        name: text('Such as support-quality'),
        description: anyText('What it tests').optional(),
        dataset_uuid: text('Dataset UUID'),
        metrics,
        ...workspace,
      },
      request: (a) => ({
        body: {
          name: a.name,
          description: a.description,
          dataset_uuid: a.dataset_uuid,
          metrics: a.metrics,
          ...starOf(a.metrics),
          ...workspaceOf(a),
        },
      }),
      result: (answer, a) => ({ ...answer, name: a.name, dataset_uuid: a.dataset_uuid }),
    }),
  ),

  'genai-update-evaluation-test-case': named(
    'update evaluation test case',
    call(testCases.update, {
      title: 'Update test case',
      about: 'Change a test case, which makes a new version of it.',
      args: {
        test_case_uuid: text('Test case UUID'),
        name: text('New name').optional(),
        description: anyText('New description').optional(),
        dataset_uuid: text('Other dataset').optional(),
        metrics: texts('Metric UUIDs from now on').optional(),
      },
      request: ({ test_case_uuid, metrics, ...changes }) => ({
        path: { test_case_uuid },
        body: {
          test_case_uuid,
          ...changes,
          ...(metrics && { metrics: { metric_uuids: metrics } }),
        },
      }),
    }),
  ),
}
