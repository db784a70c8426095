import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { storedDatasets } from '../evaluation-datasets/contract.ts'
import { findMetrics } from '../evaluation-metrics/custom.ts'
import { runRecords } from '../evaluation-runs/record.ts'
import { storedWorkspaces } from '../workspaces/contract.ts'
import {
  type StoredTestCase,
  type StoredVersion,
  storedTestCases,
  type TestCase,
  testCases,
} from './contract.ts'
import { versionOf } from './version.ts'

export const testCaseService: Service = (on, { store, ids, clock }) => {
  const table = store.collection(storedTestCases)
  const datasets = store.collection(storedDatasets)

  const shown = async (stored: StoredTestCase, wanted?: number): Promise<TestCase> => {
    const version = versionOf(stored, wanted)
    const dataset = await datasets.get(version.dataset_uuid)
    const runs = await store
      .collection(runRecords)
      .list({ where: { test_case_uuid: stored.test_case_uuid } })
    const { object_key: _key, file_name: _file, ...visible } = dataset ?? {}
    return {
      test_case_uuid: stored.test_case_uuid,
      name: version.name,
      ...(version.description !== undefined && { description: version.description }),
      version: version.version,
      dataset_uuid: version.dataset_uuid,
      ...(dataset && {
        dataset_name: dataset.dataset_name,
        dataset: visible as TestCase['dataset'],
      }),
      metrics: await findMetrics(store, 'AGENT', version.metric_uuids),
      ...(version.star_metric && { star_metric: version.star_metric }),
      total_runs: runs.length,
      latest_version_number_of_runs: runs.filter(
        ({ test_case }) => test_case?.version === stored.versions.length,
      ).length,
      created_at: stored.created_at,
      updated_at: version.updated_at,
    }
  }

  const workspaceUuid = async (wish: {
    workspace_uuid?: string | undefined
    agent_workspace_name?: string | undefined
  }) => {
    const workspaces = store.collection(storedWorkspaces)
    if (wish.workspace_uuid) return (await workspaces.require(wish.workspace_uuid)).uuid
    if (!wish.agent_workspace_name) {
      throw ApiError.invalid('workspace_uuid or agent_workspace_name is required.')
    }
    const found = await workspaces.find({ name: wish.agent_workspace_name })
    if (!found) throw ApiError.notFound(`Workspace ${wish.agent_workspace_name}`)
    return found.uuid
  }
  const ofWorkspace = async (workspace_uuid: string) => ({
    evaluation_test_cases: await Promise.all(
      (await table.list({ where: { workspace_uuid } })).map((stored) => shown(stored)),
    ),
  })
  const check = async (
    version: Pick<StoredVersion, 'dataset_uuid' | 'metric_uuids' | 'star_metric'>,
  ) => {
    const dataset = await datasets.require(version.dataset_uuid)
    if (dataset.dataset_type === 'EVALUATION_DATASET_TYPE_MODEL') {
      throw ApiError.invalid('dataset_uuid is a dataset for models; agents need a query column.')
    }
    const chosen = await findMetrics(store, 'AGENT', version.metric_uuids)
    const star = version.star_metric?.metric_uuid
    if (star && !chosen.some(({ metric_uuid }) => metric_uuid === star)) {
      throw ApiError.invalid(`star_metric ${star} is not among the metrics of the test case.`)
    }
  }

  on(testCases.list, async ({ query }) => {
    if (query.workspace_uuid || query.agent_workspace_name) {
      return ofWorkspace(await workspaceUuid(query))
    }
    const all = await table.list()
    return { evaluation_test_cases: await Promise.all(all.map((stored) => shown(stored))) }
  })

  on(testCases.listOfWorkspace, async ({ path }) => ofWorkspace(await workspaceUuid(path)))

  on(testCases.get, async ({ path, query }) => ({
    evaluation_test_case: await shown(
      await table.require(path.test_case_uuid),
      query.evaluation_test_case_version,
    ),
  }))

  on(testCases.create, async ({ body }) => {
    const workspace_uuid = await workspaceUuid(body)
    const now = timestamp(clock)
    const { name, description, dataset_uuid, metrics = [], star_metric } = body
    const first: StoredVersion = {
      version: 1,
      name,
      ...(description !== undefined && { description }),
      dataset_uuid,
      metric_uuids: metrics,
      ...(star_metric && { star_metric }),
      updated_at: now,
    }
    await check(first)
    const test_case_uuid = ids.uuid()
    await table.insert({ test_case_uuid, workspace_uuid, created_at: now, versions: [first] })
    return { test_case_uuid }
  })

  on(testCases.update, async ({ path: { test_case_uuid }, body }) => {
    const { metrics, test_case_uuid: _same, ...changes } = body
    const metric_uuids = Array.isArray(metrics) ? metrics : metrics?.metric_uuids
    const next = (stored: StoredTestCase): StoredVersion => {
      const last = versionOf(stored)
      const given = Object.entries(changes).filter(([, value]) => value !== undefined)
      const version = {
        ...last,
        ...Object.fromEntries(given),
        ...(metric_uuids && { metric_uuids }),
        version: last.version + 1,
        updated_at: timestamp(clock),
      }
      const star = version.star_metric?.metric_uuid
      // A star that the new metrics no longer have would decide nothing.
      if (!body.star_metric && metric_uuids && star && !metric_uuids.includes(star)) {
        const { star_metric: _gone, ...rest } = version
        return rest
      }
      return version
    }
    await check(next(await table.require(test_case_uuid)))
    const { versions } = await table.update(test_case_uuid, (stored) => ({
      ...stored,
      versions: [...stored.versions, next(stored)],
    }))
    return { test_case_uuid, version: versions.length }
  })
}
