import { ApiError } from '#core/error.ts'
import { anyText, text, texts } from '#mcp/args.ts'
import { script, type ToolContext } from '#mcp/tool.ts'
import { prefixedChoices } from '../arguments.ts'
import { datasets } from '../evaluation-datasets/contract.ts'
import { checkFile, undoUpload, uploadDataset } from '../evaluation-datasets/upload.ts'
import { metricCategories, metrics } from '../evaluation-metrics/contract.ts'
import { testCases } from '../evaluation-test-cases/contract.ts'
import { starOf } from '../evaluation-test-cases/star.ts'
import { StepFailure, workflow } from '../steps.ts'
import { agentRunPrefix, type EvaluationRun, evaluationRuns } from './contract.ts'
import { pollUntilOver, secondsSince, type Timing, timing } from './poll.ts'
import { isFinal, phaseOrder } from './record.ts'

export const evaluationWorkflowTools = {
  'genai-run-evaluation-workflow': script({
    title: 'Evaluate agents',
    about:
      'Upload a dataset, create or update a test case, run it against agent deployments and wait for the scores.',
    args: {
      dataset_file_path: text('.csv with a query column of JSON objects'),
      workspace_name: text('Agent workspace'),
      test_case_name: text('An existing one is updated'),
      agent_deployment_names: texts('Such as ["support-v2"]'),
      run_name: text('Run name'),
      description: anyText('Of the test case').optional(),
      metric_categories: prefixedChoices(
        'None means all',
        'METRIC_CATEGORY_',
        metricCategories,
      ).optional(),
      ...timing,
    },
    effect: 'create',
    uses: [
      metrics.listForAgents,
      datasets.presign,
      datasets.create,
      testCases.list,
      testCases.create,
      testCases.update,
      evaluationRuns.create,
      evaluationRuns.get,
    ],
    run: async (a, context) => {
      const started = performance.now()
      const { step, facts } = workflow()
      const file = await step(1, async () => {
        if (a.agent_deployment_names.length === 0) {
          throw ApiError.invalid('agent_deployment_names must name at least one deployment')
        }
        return checkFile(a.dataset_file_path, 'agent')
      })
      const metric_uuids = await step(2, () => chosenMetrics(context, a.metric_categories ?? []))
      const { dataset_uuid } = await step(3, () =>
        uploadDataset(context, file, { name: `${a.test_case_name}_dataset`, use: 'agent' }),
      )
      facts.dataset_uuid = dataset_uuid
      const test_case_uuid = await step(4, () =>
        saveTestCase(context, { ...a, dataset_uuid, metric_uuids }).catch((error) =>
          undoUpload(context, dataset_uuid, error, () => delete facts.dataset_uuid),
        ),
      )
      facts.test_case_uuid = test_case_uuid
      const uuids = await step(5, () => startRuns(context, { ...a, test_case_uuid }))
      facts.evaluation_run_uuid = uuids[0]
      const runs = await step(6, () => lastStates(context, a, uuids))
      if (!runs) throw new StepFailure('step 6: evaluation polling timed out', facts)
      return {
        dataset_uuid,
        test_case_uuid,
        ...outcome(runs[0]),
        duration_seconds: secondsSince(started),
        error_message: runs[0].error_description || null,
        ...(runs.length > 1 && { evaluation_runs: runs.map(outcome) }),
      }
    },
  }),
}

type OneOrMore<T> = [T, ...T[]]

const chosenMetrics = async ({ api }: ToolContext, categories: readonly string[]) => {
  const { metrics: all } = await api(metrics.listForAgents, {})
  const chosen = all.filter(
    ({ category }) => categories.length === 0 || categories.includes(category),
  )
  if (chosen.length === 0) {
    throw ApiError.invalid(`no metric is of the category ${categories.join(' or ')}`)
  }
  return chosen.map((metric) => metric.metric_uuid)
}

const saveTestCase = async (
  { api }: ToolContext,
  wish: {
    workspace_name: string
    test_case_name: string
    description?: string | undefined
    dataset_uuid: string
    metric_uuids: string[]
  },
): Promise<string> => {
  const { workspace_name: agent_workspace_name, description, dataset_uuid, metric_uuids } = wish
  const { evaluation_test_cases } = await api(testCases.list, { query: { agent_workspace_name } })
  const known = evaluation_test_cases.find(({ name }) => name === wish.test_case_name)
  if (!known) {
    const made = await api(testCases.create, {
      body: {
        name: wish.test_case_name,
        description,
        dataset_uuid,
        metrics: metric_uuids,
        ...starOf(metric_uuids),
        agent_workspace_name,
      },
    })
    return made.test_case_uuid
  }
  const { test_case_uuid } = known
  await api(testCases.update, {
    path: { test_case_uuid },
    body: {
      test_case_uuid,
      name: wish.test_case_name,
      description,
      dataset_uuid,
      metrics: { metric_uuids },
      ...starOf(metric_uuids),
    },
  })
  return test_case_uuid
}

const startRuns = async (
  { api }: ToolContext,
  wish: { test_case_uuid: string; run_name: string; agent_deployment_names: string[] },
): Promise<OneOrMore<string>> => {
  const { test_case_uuid, run_name, agent_deployment_names } = wish
  const { evaluation_run_uuids } = await api(evaluationRuns.create, {
    body: { test_case_uuid, run_name, agent_deployment_names },
  })
  const [first, ...others] = evaluation_run_uuids
  if (first === undefined) throw new ApiError(502, 'The cloud started no run.')
  return [first, ...others]
}

const bare = (run: EvaluationRun) => run.status.replace(agentRunPrefix, '')

const lastStates = (context: ToolContext, limits: Timing, uuids: OneOrMore<string>) =>
  pollUntilOver(context, limits, {
    look: async () => {
      const runs = await Promise.all(
        uuids.map((evaluation_run_uuid) =>
          context.api(evaluationRuns.get, { path: { evaluation_run_uuid } }),
        ),
      )
      return runs.map(({ evaluation_run }) => evaluation_run) as OneOrMore<EvaluationRun>
    },
    over: (runs) => runs.every((run) => isFinal(bare(run))),
    tell: (runs) => ({
      done: runs.reduce((sum, run) => sum + phaseOrder(bare(run)), 0),
      total: runs.length * phaseOrder('SUCCESSFUL'),
      message: runs.map((run) => `${run.agent_deployment_name ?? 'run'}: ${run.status}`).join(', '),
    }),
  })

const outcome = (run: EvaluationRun) => ({
  evaluation_run_uuid: run.evaluation_run_uuid,
  status: run.status,
  metric_results: (run.run_level_metric_results ?? []).map(
    ({ metric_name, number_value, reasoning }) => ({ metric_name, number_value, reasoning }),
  ),
})
