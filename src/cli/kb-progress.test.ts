import { expect, test } from 'vitest'
import { barOf } from './kb-progress.ts'

const job = (bytes: number) => ({
  uuid: 'a',
  knowledge_base_uuid: 'b',
  status: 'INDEX_JOB_STATUS_IN_PROGRESS' as const,
  phase: 'BATCH_JOB_PHASE_RUNNING' as const,
  created_at: '',
  updated_at: '',
  data_source_uuids: [],
  data_source_jobs: [
    {
      data_source_uuid: 'c',
      status: 'DATA_SOURCE_STATUS_IN_PROGRESS' as const,
      total_file_count: '120',
      indexed_file_count: '30',
      indexed_item_count: '0',
      skipped_item_count: '0',
      failed_item_count: '0',
      removed_item_count: '0',
      total_bytes: '1000',
      total_bytes_indexed: String(bytes),
    },
  ],
  total_datasources: 1,
  completed_datasources: 0,
  tokens: 0,
  total_tokens: '0',
  is_report_available: false,
})

test.each([
  [0, 5000, '[------------------------] 0 % of 120 files'],
  [250, 10_000, '[######------------------] 25 % of 120 files, about 30 s left'],
  [500, 600_000, '[############------------] 50 % of 120 files, about 10 min left'],
  [1000, 1000, '[########################] 100 % of 120 files, about 1 s left'],
])('with %i of 1000 bytes after %i ms the bar says so', (bytes, elapsed, expected) => {
  expect(barOf(job(bytes), elapsed)).toBe(expected)
})
