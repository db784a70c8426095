import { stat } from 'node:fs/promises'
import { messageOf } from '#core/error.ts'
import { defaultChunking } from '#knowledge/chunk.ts'
import { listFiles } from '#knowledge/files.ts'
import type { Knowledge } from '#knowledge/knowledge.ts'
import type { SourceFile, SourceReport } from '#knowledge/sync.ts'
import { timestamp } from '#platform/clock.ts'
import type { Step } from '#platform/reconcile.ts'
import type { Kernel } from '#platform/service.ts'
import {
  baseOf,
  type DataSourceRecord,
  dataSourceRecords,
  knowledgeBaseRecords,
} from '../knowledge-bases/contract.ts'
import { uploadFile } from '../knowledge-bases/uploads.ts'
import type { IndexingJobRecord, SkippedFile } from './contract.ts'
import type { IndexedDataSource, JobStatus } from './shapes.ts'

/** ms between writes of a job's progress. */
const progressEvery = 500

interface Run {
  sources: Map<string, IndexedDataSource>
  tokens: Map<string, number>
  skipped: SkippedFile[]
  stop: AbortController
  /** Ends without a failure, also when it was stopped. */
  done: Promise<void>
  over: boolean
}

/**
 * Jobs under way in this process. A job that is not under way is begun: what an earlier process has
 * indexed is found unchanged and passed over, so that a job goes on where it was cut off.
 */
export const createRuns = (kernel: Kernel, knowledge: Knowledge) => {
  const { store, clock } = kernel
  const runs = new Map<string, Run>()
  const now = () => timestamp(clock)

  const begin = (job: IndexingJobRecord): Run => {
    const stop = new AbortController()
    const run: Run = {
      sources: new Map(),
      tokens: new Map(),
      skipped: [],
      stop,
      done: Promise.resolve(),
      over: false,
    }
    run.done = work(job, run).finally(() => {
      run.over = true
    })
    runs.set(job.uuid, run)
    return run
  }

  const work = async (job: IndexingJobRecord, run: Run): Promise<void> => {
    const base = await store.collection(knowledgeBaseRecords).get(job.knowledge_base_uuid)
    if (!base) return
    for (const uuid of job.data_source_uuids) {
      const source = await store.collection(dataSourceRecords).get(uuid)
      if (!source || source.deleting) continue
      const started_at = now()
      const tell = (report: SourceReport | undefined, more: Partial<IndexedDataSource>) => {
        run.sources.set(uuid, { ...counts(uuid, report), started_at, ...more })
        run.tokens.set(uuid, report?.tokens ?? 0)
      }
      let last: SourceReport | undefined
      tell(last, {})
      try {
        const report = await knowledge.sync(
          baseOf(base),
          {
            uuid,
            files: await filesOf(kernel, source),
            chunking: {
              by:
                source.chunking_algorithm === 'CHUNKING_ALGORITHM_FIXED_LENGTH'
                  ? 'fixed'
                  : 'section',
              maxTokens: source.chunking_options?.max_chunk_size ?? defaultChunking.maxTokens,
            },
            metadata: source.metadata,
          },
          {
            signal: run.stop.signal,
            progress: (progress) => {
              last = progress
              tell(progress, {})
            },
          },
        )
        tell(report, { status: sourceStatus(report), completed_at: now() })
        for (const { path, reason } of report.skipped)
          run.skipped.push({ data_source_uuid: uuid, path, reason })
      } catch (error) {
        const stopped = run.stop.signal.aborted
        tell(last, {
          status: stopped ? 'DATA_SOURCE_STATUS_CANCELLED' : 'DATA_SOURCE_STATUS_FAILED',
          ...(!stopped && { error_msg: messageOf(error) }),
          completed_at: now(),
        })
        if (stopped) return
      }
    }
    await knowledge.prune(baseOf(base))
  }

  const progressOf = (job: IndexingJobRecord, run: Run): IndexingJobRecord => ({
    ...job,
    status: 'INDEX_JOB_STATUS_IN_PROGRESS',
    started_at: job.started_at ?? now(),
    updated_at: now(),
    sources: [...run.sources.values()],
    tokens: [...run.tokens.values()].reduce((sum, tokens) => sum + tokens, 0),
  })

  const finish = async (job: IndexingJobRecord, run: Run): Promise<Step<IndexingJobRecord>> => {
    for (const last_job of run.sources.values())
      if (await store.collection(dataSourceRecords).get(last_job.data_source_uuid))
        await store
          .collection(dataSourceRecords)
          .update(last_job.data_source_uuid, (current) => ({ ...current, last_job }))
    runs.delete(job.uuid)
    return {
      change: (current) => ({
        ...progressOf(current, run),
        status: run.stop.signal.aborted
          ? 'INDEX_JOB_STATUS_CANCELLED'
          : jobStatus([...run.sources.values()]),
        finished_at: now(),
        skipped: run.skipped,
      }),
    }
  }

  return {
    /** Goes on with a job for a moment, or to its end. */
    step: async (job: IndexingJobRecord, signal: AbortSignal): Promise<Step<IndexingJobRecord>> => {
      const run = runs.get(job.uuid) ?? begin(job)
      if (job.cancelling) run.stop.abort()
      const interrupted = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      let cancelTimer = () => {}
      const moment = new Promise<void>((resolve) => {
        cancelTimer = clock.later(progressEvery, resolve)
      })
      await Promise.race([run.done, interrupted, moment])
      cancelTimer()
      signal.throwIfAborted()
      if (run.over) {
        await run.done
        return finish(job, run)
      }
      return { change: (current) => progressOf(current, run), again: 0 }
    },
    /** Ends a job's work here and now; its next step tells. */
    stop: (uuid: string) => runs.get(uuid)?.stop.abort(),
    close: async () => {
      for (const run of runs.values()) run.stop.abort()
      await Promise.allSettled([...runs.values()].map((run) => run.done))
    },
  }
}

const filesOf = async (kernel: Kernel, source: DataSourceRecord): Promise<SourceFile[]> => {
  if (source.folder) return listFiles(source.folder.path)
  if (!source.upload) return []
  const file = uploadFile(kernel, source.upload.stored_object_key)
  const found = await stat(file).catch((cause: unknown) => {
    throw new Error(`${source.upload?.original_file_name} was never uploaded.`, { cause })
  })
  return [
    {
      path: source.upload.original_file_name,
      file,
      bytes: found.size,
      modified: found.mtime,
    },
  ]
}

const counts = (uuid: string, report: SourceReport | undefined): IndexedDataSource => {
  const expected = report?.skipped.filter((file) => file.expected).length ?? 0
  const broken = (report?.skipped.length ?? 0) - expected
  return {
    data_source_uuid: uuid,
    status: 'DATA_SOURCE_STATUS_IN_PROGRESS',
    total_file_count: String(report?.files ?? 0),
    indexed_file_count: String((report?.indexed ?? 0) + (report?.unchanged ?? 0)),
    indexed_item_count: String(report?.chunks ?? 0),
    skipped_item_count: String(expected),
    failed_item_count: String(broken),
    removed_item_count: String(report?.removed ?? 0),
    total_bytes: String(report?.bytes ?? 0),
    total_bytes_indexed: String(report?.doneBytes ?? 0),
  }
}

const sourceStatus = (report: SourceReport): IndexedDataSource['status'] => {
  if (report.skipped.some((file) => !file.expected)) return 'DATA_SOURCE_STATUS_PARTIALLY_UPDATED'
  return report.indexed + report.removed > 0
    ? 'DATA_SOURCE_STATUS_UPDATED'
    : 'DATA_SOURCE_STATUS_NOT_UPDATED'
}

const jobStatus = (sources: readonly IndexedDataSource[]): JobStatus => {
  const all = (status: IndexedDataSource['status']) =>
    sources.every((source) => source.status === status)
  const some = (status: IndexedDataSource['status']) =>
    sources.some((source) => source.status === status)
  if (all('DATA_SOURCE_STATUS_NOT_UPDATED')) return 'INDEX_JOB_STATUS_NO_CHANGES'
  if (all('DATA_SOURCE_STATUS_FAILED')) return 'INDEX_JOB_STATUS_FAILED'
  return some('DATA_SOURCE_STATUS_FAILED') || some('DATA_SOURCE_STATUS_PARTIALLY_UPDATED')
    ? 'INDEX_JOB_STATUS_PARTIAL'
    : 'INDEX_JOB_STATUS_COMPLETED'
}
