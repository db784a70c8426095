import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf, one } from '#core/page.ts'
import { Uuid } from '#core/schema.ts'
import { IndexedDataSource, IndexingJob, type JobStatus, phaseOf } from './shapes.ts'

const { get, post, put } = resource('genai')

const base = '/v2/gen-ai/indexing_jobs'

export const indexingJobs = {
  list: get(base, { query: GenaiPage, returns: genaiListOf('jobs', IndexingJob) }),
  listOfBase: get('/v2/gen-ai/knowledge_bases/:knowledge_base_uuid/indexing_jobs', {
    query: GenaiPage,
    returns: genaiListOf('jobs', IndexingJob),
  }),
  start: post(base, {
    body: z.looseObject({
      knowledge_base_uuid: Uuid,
      /** Those of the base that are to be read again; all without it. */
      data_source_uuids: z.array(Uuid).max(100).optional(),
    }),
    status: 200,
    returns: one('job', IndexingJob),
  }),
  get: get(`${base}/:uuid`, { returns: one('job', IndexingJob) }),
  cancel: put(`${base}/:uuid/cancel`, {
    body: z.looseObject({}).default({}),
    returns: one('job', IndexingJob),
  }),
  dataSources: get(`${base}/:indexing_job_uuid/data_sources`, {
    returns: z.object({ indexed_data_sources: z.array(IndexedDataSource) }),
  }),
  /** Where the report on skipped files can be had without a token. */
  report: get(`${base}/:indexing_job_uuid/details_signed_url`, {
    returns: z.object({ signed_url: z.string() }),
  }),
}

/** A file that a job left out, and why. */
export const SkippedFile = z.object({
  data_source_uuid: z.string(),
  path: z.string(),
  reason: z.string(),
})
export type SkippedFile = z.output<typeof SkippedFile>

export interface IndexingJobRecord {
  uuid: string
  knowledge_base_uuid: string
  data_source_uuids: string[]
  status: JobStatus
  /** Somebody asked for its end. */
  cancelling: boolean
  created_at: string
  updated_at: string
  started_at?: string
  finished_at?: string
  sources: IndexedDataSource[]
  tokens: number
  skipped: SkippedFile[]
  /** Unguessable: who knows it may read the report. */
  report_key: string
}

export const indexingJobRecords = collection<IndexingJobRecord>('indexing_jobs', {
  called: 'Indexing job',
  key: 'uuid',
  indexes: ['knowledge_base_uuid', 'report_key', 'status'],
  reconciled: true,
})

/** A job as it is kept when it begins. */
export const newJob = (
  facts: Pick<
    IndexingJobRecord,
    'uuid' | 'knowledge_base_uuid' | 'data_source_uuids' | 'report_key' | 'created_at'
  >,
): IndexingJobRecord => ({
  ...facts,
  status: 'INDEX_JOB_STATUS_PENDING',
  cancelling: false,
  updated_at: facts.created_at,
  sources: [],
  tokens: 0,
  skipped: [],
})

export const asJob = (record: IndexingJobRecord): IndexingJob => ({
  uuid: record.uuid,
  knowledge_base_uuid: record.knowledge_base_uuid,
  status: record.status,
  phase: phaseOf[record.status],
  created_at: record.created_at,
  updated_at: record.updated_at,
  ...(record.started_at && { started_at: record.started_at }),
  ...(record.finished_at && { finished_at: record.finished_at }),
  data_source_uuids: record.data_source_uuids,
  data_source_jobs: record.sources,
  total_datasources: record.data_source_uuids.length,
  completed_datasources: record.sources.filter(({ completed_at }) => completed_at).length,
  tokens: record.tokens,
  total_tokens: String(record.tokens),
  is_report_available: record.finished_at !== undefined,
})
