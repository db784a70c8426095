import { ApiError } from '#core/error.ts'
import { text, texts } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { named } from '../steps.ts'
import { evaluationRuns } from './contract.ts'

export const evaluationRunTools = {
  'genai-run-evaluation-test-case': named(
    'run evaluation test case',
    call(evaluationRuns.create, {
      title: 'Run test case',
      about: 'Start one evaluation run of a test case for each agent deployment.',
      args: {
        test_case_uuid: text('Test case UUID'),
        agent_deployment_names: texts('Such as ["support-v2"]'),
        run_name: text('Run name'),
      },
      request: (a) => {
        if (a.agent_deployment_names.length === 0) {
          throw ApiError.invalid('agent_deployment_names must name at least one deployment')
        }
        return { body: a }
      },
      result: ({ evaluation_run_uuids, ...rest }) => ({
        evaluation_run_uuids,
        count: evaluation_run_uuids.length,
        ...rest,
      }),
    }),
  ),

  'genai-get-evaluation-run': named(
    'get evaluation run',
    call(evaluationRuns.get, {
      title: 'Get agent evaluation run',
      about: 'Get the status and metric results of an agent evaluation run.',
      args: { evaluation_run_uuid: text('Run UUID') },
      request: (a) => ({ path: a }),
    }),
  ),
}
