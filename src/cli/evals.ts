import { writeFileSync } from 'node:fs'
import type { Api } from '#client/client.ts'
import { reportPage } from '#services/genai/evaluation-report/html.ts'
import { loadRun } from '#services/genai/evaluation-report/load.ts'
import { reportOf } from '#services/genai/evaluation-report/report.ts'
import { reportCsv } from '#services/genai/evaluation-report/table.ts'
import { evaluationRuns } from '#services/genai/evaluation-runs/contract.ts'
import { testCases } from '#services/genai/evaluation-test-cases/contract.ts'
import { modelEvaluations } from '#services/genai/model-evaluations/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

const verbs =
  'Say one of: cove evals list, cove evals report RUN --html|--json|--csv [--compare RUN], cove evals resume RUN --max-cost USD.'

export const evals = command({
  about: 'List evaluation runs, report on them, and let a suspended one go on.',
  usage: 'list | report RUN | resume RUN',
  settings: [
    'html',
    'json',
    'csv',
    'compare',
    'output',
    'max-cost',
    'token',
    'api-url',
    'api-token',
  ],
  examples: [
    'cove evals list',
    'cove evals report 3f0e… --html --output report.html',
    'cove evals report 3f0e… --html --compare 9a41…',
    'cove evals resume 3f0e… --max-cost 5',
  ],
  run: async ({ values, home, positionals }, { env, out, err }) => {
    const [verb, uuid] = positionals
    const api = apiOf(await openBackend({ values, home, env }))
    if (verb === 'list') {
      const rows = await allRuns(api)
      out(
        values.json
          ? json(rows)
          : table(
              ['run', 'kind', 'name', 'status', 'candidate', 'created'],
              rows.map(Object.values),
            ),
      )
      return 0
    }
    if (uuid === undefined) throw new UsageError(verbs)
    if (verb === 'resume') {
      const max_cost_usd = Number(values['max-cost'])
      if (!(max_cost_usd > 0)) throw new UsageError('--max-cost must be an amount in US dollars.')
      const path = { eval_run_uuid: uuid }
      const { run } = await api(modelEvaluations.update, { path, body: { max_cost_usd } })
      out(`${run.name} goes on, up to $${max_cost_usd} in all.\n`)
      return 0
    }
    if (verb !== 'report') throw new UsageError(verbs)
    if ([values.html, values.json, values.csv].filter(Boolean).length !== 1) {
      throw new UsageError('Say one of --html, --json and --csv.')
    }
    const run = await loadRun(api, uuid)
    const other = values.compare === undefined ? undefined : await loadRun(api, values.compare)
    const text = values.csv
      ? reportCsv(run)
      : values.html
        ? reportPage(reportOf(run, other))
        : json(reportOf(run, other))
    if (values.output === undefined) out(text)
    else {
      writeFileSync(values.output, text)
      err(`The report on "${run.name}" is in ${values.output}.\n`)
    }
    return 0
  },
})

interface Listed {
  run: string
  kind: 'model' | 'agent'
  name: string
  status: string
  candidate: string
  created: string
}

const allRuns = async (api: Api): Promise<Listed[]> => {
  const { runs } = await api(modelEvaluations.list, { query: { per_page: 1000 } })
  const { evaluation_test_cases } = await api(testCases.list, {})
  const ofAgents = await Promise.all(
    evaluation_test_cases.map(({ test_case_uuid }) =>
      api(evaluationRuns.listOfTestCase, { path: { test_case_uuid } }),
    ),
  )
  return [
    ...runs.map((run) => ({
      run: run.eval_run_uuid,
      kind: 'model' as const,
      name: run.name,
      status: run.status,
      candidate: run.candidate_model_name,
      created: run.created_at,
    })),
    ...ofAgents.flatMap(({ evaluation_runs }) =>
      evaluation_runs.map((run) => ({
        run: run.evaluation_run_uuid,
        kind: 'agent' as const,
        name: run.run_name,
        status: run.status,
        candidate: run.agent_deployment_name,
        created: run.queued_at,
      })),
    ),
  ].sort((a, b) => b.created.localeCompare(a.created))
}
