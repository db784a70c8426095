import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { Timestamp } from '#core/schema.ts'
import { Dataset } from '../evaluation-datasets/contract.ts'
import { Metric, StarMetric } from '../evaluation-metrics/contract.ts'

const { get, post, put } = resource('genai')

export const TestCase = z.object({
  test_case_uuid: z.string(),
  name: z.string(),
  description: z.string().optional(),
  version: z.number().int(),
  dataset_uuid: z.string(),
  dataset_name: z.string().optional(),
  dataset: Dataset.optional(),
  metrics: z.array(Metric),
  star_metric: StarMetric.optional(),
  total_runs: z.number().int(),
  latest_version_number_of_runs: z.number().int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type TestCase = z.infer<typeof TestCase>

const Name = z.string().trim().min(1).max(255)
const Description = z.string().max(2000)
const MetricUuids = z.array(z.string().min(1))

const listed = z.object({ evaluation_test_cases: z.array(TestCase) })

export const testCases = {
  /** Filtered by workspace when one is named. */
  list: get('/v2/gen-ai/evaluation_test_cases', {
    query: z.object({
      workspace_uuid: z.string().optional(),
      agent_workspace_name: z.string().optional(),
    }),
    returns: listed,
  }),
  listOfWorkspace: get('/v2/gen-ai/workspaces/:workspace_uuid/evaluation_test_cases', {
    returns: listed,
  }),
  create: post('/v2/gen-ai/evaluation_test_cases', {
    body: z.object({
      name: Name,
      description: Description.optional(),
      dataset_uuid: z.string().min(1),
      metrics: MetricUuids.optional(),
      star_metric: StarMetric.optional(),
      workspace_uuid: z.string().optional(),
      agent_workspace_name: z.string().optional(),
    }),
    returns: z.object({ test_case_uuid: z.string() }),
    status: 200,
  }),
  get: get('/v2/gen-ai/evaluation_test_cases/:test_case_uuid', {
    query: z.object({
      evaluation_test_case_version: z.coerce.number<number | string>().int().min(1).optional(),
    }),
    returns: z.object({ evaluation_test_case: TestCase }),
  }),
  /** Every update makes a new version; runs keep the one they were started with. */
  update: put('/v2/gen-ai/evaluation_test_cases/:test_case_uuid', {
    body: z.object({
      test_case_uuid: z.string().optional(),
      name: Name.optional(),
      description: Description.optional(),
      dataset_uuid: z.string().min(1).optional(),
      metrics: z.union([z.object({ metric_uuids: MetricUuids }), MetricUuids]).optional(),
      star_metric: StarMetric.optional(),
    }),
    returns: z.object({ test_case_uuid: z.string(), version: z.number().int() }),
  }),
}

/** One version of a test case, as it is kept. */
export interface StoredVersion {
  version: number
  name: string
  description?: string
  dataset_uuid: string
  metric_uuids: string[]
  star_metric?: StarMetric
  updated_at: string
}

export interface StoredTestCase {
  test_case_uuid: string
  workspace_uuid: string
  created_at: string
  /** Oldest first. */
  versions: StoredVersion[]
}

export const storedTestCases = collection<StoredTestCase>('evaluation_test_cases', {
  called: 'Test case',
  key: 'test_case_uuid',
  indexes: ['workspace_uuid'],
})
