import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageFacts } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { type StoredAgent, storedAgents } from '../agents/contract.ts'
import { rowResults } from '../evaluation-engine/results.ts'
import { findMetrics } from '../evaluation-metrics/custom.ts'
import { storedTestCases } from '../evaluation-test-cases/contract.ts'
import { versionOf } from '../evaluation-test-cases/version.ts'
import { evaluationRuns } from './contract.ts'
import { type Candidate, Limits, type RunRecord, runRecords } from './record.ts'
import { checkStar, datasetFor, judgeFor } from './start.ts'
import { shownPrompt, shownRun } from './view.ts'

export const evaluationRunService: Service = (on, { store, ids, clock }) => {
  const runs = store.collection(runRecords)
  const agents = store.collection(storedAgents)

  const shown = async (run: RunRecord) =>
    shownRun(run, (await agents.get(run.agent?.uuid ?? '')) !== undefined)
  const find = async (uuid: string) => {
    const run = await runs.get(uuid)
    if (run?.kind !== 'agent') throw ApiError.notFound(`Evaluation run ${uuid}`)
    return run
  }

  const candidates = async (names: readonly string[], uuids: readonly string[]) => {
    const found = [
      ...(await Promise.all(
        names.map(async (name) => [name, await agents.find({ deployment_name: name })] as const),
      )),
      ...(await Promise.all(uuids.map(async (uuid) => [uuid, await agents.get(uuid)] as const))),
    ]
    if (found.length === 0) {
      throw ApiError.invalid('agent_deployment_names or agent_uuids must name at least one agent.')
    }
    return found.map(([name, agent]) => {
      if (!agent?.deployment) throw ApiError.notFound(`Agent deployment ${name}`)
      return { agent, candidate: candidateOf(agent, agent.deployment) }
    })
  }

  on(evaluationRuns.create, async ({ body, note }) => {
    const stored = await store.collection(storedTestCases).require(body.test_case_uuid)
    const version = versionOf(stored)
    const metrics = await findMetrics(store, 'AGENT', version.metric_uuids)
    checkStar(version.star_metric, metrics)
    const dataset = await datasetFor(store, version.dataset_uuid, 'agent')
    const judge = await judgeFor(store, metrics, body.judge_model_uuid)
    if (judge && body.judge_model_uuid === undefined) note(`${judge.name} judges.`)
    const chosen = await candidates(body.agent_deployment_names ?? [], body.agent_uuids ?? [])
    const created = chosen.map(
      ({ agent, candidate }): RunRecord => ({
        uuid: ids.uuid(),
        kind: 'agent',
        name: body.run_name,
        status: 'QUEUED',
        candidate,
        inference: {},
        ...(judge && { judge }),
        dataset,
        dataset_uuid: dataset.uuid,
        metrics,
        ...(version.star_metric && { star: version.star_metric }),
        limits: Limits.parse(body.limits ?? {}),
        test_case: {
          uuid: stored.test_case_uuid,
          version: version.version,
          name: version.name,
          ...(version.description !== undefined && { description: version.description }),
          workspace_uuid: stored.workspace_uuid,
        },
        test_case_uuid: stored.test_case_uuid,
        agent: {
          uuid: agent.uuid,
          name: agent.name,
          ...(agent.workspace_uuid && { workspace_uuid: agent.workspace_uuid }),
        },
        created_at: timestamp(clock),
      }),
    )
    await store.transaction(async (tx) => {
      for (const run of created) await tx.collection(runRecords).insert(run)
    })
    return { evaluation_run_uuids: created.map(({ uuid }) => uuid) }
  })

  on(evaluationRuns.get, async ({ path }) => ({
    evaluation_run: await shown(await find(path.evaluation_run_uuid)),
  }))

  on(evaluationRuns.results, async ({ path, query }) => {
    const run = await find(path.evaluation_run_uuid)
    const from = (query.page - 1) * query.per_page
    const rows = await rowResults(store, run, from, from + query.per_page)
    return {
      evaluation_run: await shown(run),
      prompts: rows.map(shownPrompt),
      ...genaiPageFacts(run.dataset.rows, query),
    }
  })

  on(evaluationRuns.prompt, async ({ path }) => {
    const run = await find(path.evaluation_run_uuid)
    const index = Number(path.prompt_id) - 1
    const [row] = await rowResults(store, run, index, index + 1)
    if (!row) throw ApiError.notFound(`Prompt ${path.prompt_id} of run ${run.uuid}`)
    return { prompt: shownPrompt(row) }
  })

  on(evaluationRuns.listOfTestCase, async ({ path, query }) => {
    await store.collection(storedTestCases).require(path.test_case_uuid)
    const all = await runs.list({
      where: { test_case_uuid: path.test_case_uuid },
      newestFirst: true,
    })
    const wanted = query.evaluation_test_case_version
    const of = all.filter(({ test_case }) => wanted === undefined || test_case?.version === wanted)
    return { evaluation_runs: await Promise.all(of.map(shown)) }
  })
}

const candidateOf = (
  agent: StoredAgent,
  { name, url, protocol, model, api_key_env }: NonNullable<StoredAgent['deployment']>,
): Candidate => ({
  kind: 'deployment',
  name,
  url,
  protocol: url.startsWith('router:') ? 'model' : (protocol ?? guess(url, model)),
  ...(model !== undefined && { model }),
  ...(api_key_env !== undefined && { api_key_env }),
  ...(agent.instruction && { instruction: agent.instruction }),
})

/** An address that looks like the OpenAI API, or has a model to name, is taken for one. */
const guess = (url: string, model: string | undefined) =>
  model !== undefined || /\/(v\d+|chat\/completions)\/?$/.test(url) ? 'openai' : 'http'
