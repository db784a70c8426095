import { z } from 'zod'
import { Timestamp, Uuid } from '#core/schema.ts'

const sourceStatuses = [
  'DATA_SOURCE_STATUS_UNKNOWN',
  'DATA_SOURCE_STATUS_IN_PROGRESS',
  'DATA_SOURCE_STATUS_UPDATED',
  'DATA_SOURCE_STATUS_PARTIALLY_UPDATED',
  'DATA_SOURCE_STATUS_NOT_UPDATED',
  'DATA_SOURCE_STATUS_FAILED',
  'DATA_SOURCE_STATUS_CANCELLED',
] as const

/** How one data source fared in a job. Counts of 64 bits travel as text. */
export const IndexedDataSource = z.object({
  data_source_uuid: Uuid,
  status: z.enum(sourceStatuses),
  started_at: Timestamp.optional(),
  completed_at: Timestamp.optional(),
  error_msg: z.string().optional(),
  error_details: z.string().optional(),
  total_file_count: z.string(),
  /** Files that are in the index now, changed or not. */
  indexed_file_count: z.string(),
  /** Chunks that were written. */
  indexed_item_count: z.string(),
  skipped_item_count: z.string(),
  failed_item_count: z.string(),
  removed_item_count: z.string(),
  total_bytes: z.string(),
  total_bytes_indexed: z.string(),
})
export type IndexedDataSource = z.output<typeof IndexedDataSource>

const phases = [
  'BATCH_JOB_PHASE_PENDING',
  'BATCH_JOB_PHASE_RUNNING',
  'BATCH_JOB_PHASE_SUCCEEDED',
  'BATCH_JOB_PHASE_FAILED',
  'BATCH_JOB_PHASE_CANCELLED',
] as const

const statuses = [
  'INDEX_JOB_STATUS_PENDING',
  'INDEX_JOB_STATUS_IN_PROGRESS',
  'INDEX_JOB_STATUS_COMPLETED',
  'INDEX_JOB_STATUS_PARTIAL',
  'INDEX_JOB_STATUS_NO_CHANGES',
  'INDEX_JOB_STATUS_FAILED',
  'INDEX_JOB_STATUS_CANCELLED',
] as const
export type JobStatus = (typeof statuses)[number]

/** A job that has come to its end, and the phase that says so. */
export const phaseOf: Record<JobStatus, (typeof phases)[number]> = {
  INDEX_JOB_STATUS_PENDING: 'BATCH_JOB_PHASE_PENDING',
  INDEX_JOB_STATUS_IN_PROGRESS: 'BATCH_JOB_PHASE_RUNNING',
  INDEX_JOB_STATUS_COMPLETED: 'BATCH_JOB_PHASE_SUCCEEDED',
  INDEX_JOB_STATUS_PARTIAL: 'BATCH_JOB_PHASE_SUCCEEDED',
  INDEX_JOB_STATUS_NO_CHANGES: 'BATCH_JOB_PHASE_SUCCEEDED',
  INDEX_JOB_STATUS_FAILED: 'BATCH_JOB_PHASE_FAILED',
  INDEX_JOB_STATUS_CANCELLED: 'BATCH_JOB_PHASE_CANCELLED',
}

export const isOver = (status: JobStatus): boolean =>
  status !== 'INDEX_JOB_STATUS_PENDING' && status !== 'INDEX_JOB_STATUS_IN_PROGRESS'

export const IndexingJob = z.object({
  uuid: Uuid,
  knowledge_base_uuid: Uuid,
  status: z.enum(statuses),
  phase: z.enum(phases),
  created_at: Timestamp,
  updated_at: Timestamp,
  started_at: Timestamp.optional(),
  finished_at: Timestamp.optional(),
  data_source_uuids: z.array(Uuid),
  data_source_jobs: z.array(IndexedDataSource),
  total_datasources: z.number().int(),
  completed_datasources: z.number().int(),
  tokens: z.number().int(),
  total_tokens: z.string(),
  is_report_available: z.boolean(),
})
export type IndexingJob = z.output<typeof IndexingJob>
