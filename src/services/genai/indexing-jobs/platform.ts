import { ApiError, messageOf } from '#core/error.ts'
import type { Knowledge } from '#knowledge/knowledge.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { requireBase } from '../knowledge-bases/bases.ts'
import { dataSourceRecords } from '../knowledge-bases/contract.ts'
import {
  asJob,
  type IndexingJobRecord,
  indexingJobRecords,
  indexingJobs,
  newJob,
} from './contract.ts'
import { createRuns } from './runs.ts'
import { isOver } from './shapes.ts'

const reports = '/reports/indexing'

export const indexingJobService =
  (knowledge: Knowledge): Service =>
  (on, kernel) => {
    const { store, clock, ids } = kernel
    const table = store.collection(indexingJobRecords)
    const runs = createRuns(kernel, knowledge)

    on(indexingJobs.list, async ({ query }) => {
      const page = await genaiPageOf('jobs', table, query, { newestFirst: true })
      return { ...page, jobs: page.jobs.map(asJob) }
    })

    on(indexingJobs.listOfBase, async ({ path, query }) => {
      const { uuid } = await requireBase(store, path.knowledge_base_uuid)
      const where = { knowledge_base_uuid: uuid }
      const page = await genaiPageOf('jobs', table, query, { where, newestFirst: true })
      return { ...page, jobs: page.jobs.map(asJob) }
    })

    on(indexingJobs.start, async ({ body }) => {
      const { uuid } = await requireBase(store, body.knowledge_base_uuid)
      const sources = await store
        .collection(dataSourceRecords)
        .list({ where: { knowledge_base_uuid: uuid, deleting: false } })
      const chosen = body.data_source_uuids ?? sources.map((source) => source.uuid)
      const foreign = chosen.find((one) => !sources.some((source) => source.uuid === one))
      if (foreign) throw ApiError.notFound(`Data source ${foreign}`)
      if (chosen.length === 0)
        throw ApiError.invalid(`Knowledge base ${uuid} has no data source to index: add one first.`)
      const record = await store.transaction(async (tx) => {
        const jobs = tx.collection(indexingJobRecords)
        const running = await jobs.find({ knowledge_base_uuid: uuid, status: unfinished })
        if (running)
          throw ApiError.conflict(
            `Knowledge base ${uuid} is being indexed already, by job ${running.uuid}.`,
          )
        return jobs.insert(
          newJob({
            uuid: ids.uuid(),
            knowledge_base_uuid: uuid,
            data_source_uuids: chosen,
            report_key: ids.secret(24),
            created_at: timestamp(clock),
          }),
        )
      })
      return { job: asJob(record) }
    })

    on(indexingJobs.get, async ({ path }) => ({ job: asJob(await table.require(path.uuid)) }))

    on(indexingJobs.cancel, async ({ path }) => {
      const job = await table.require(path.uuid)
      if (isOver(job.status))
        throw ApiError.conflict(`Indexing job ${path.uuid} has ended already (${job.status}).`)
      runs.stop(path.uuid)
      const record = await table.update(path.uuid, (current) => ({
        ...current,
        cancelling: true,
      }))
      return { job: asJob(record) }
    })

    on(indexingJobs.dataSources, async ({ path }) => ({
      indexed_data_sources: (await table.require(path.indexing_job_uuid)).sources,
    }))

    on(indexingJobs.report, async ({ path, origin }) => {
      const job = await table.require(path.indexing_job_uuid)
      return { signed_url: `${origin}${reports}/${job.report_key}` }
    })

    kernel.route(`${reports}/*`, async (request) => {
      const key = new URL(request.url).pathname.slice(reports.length + 1)
      const job = key && (await table.find({ report_key: key }))
      if (!job)
        return Response.json(
          { id: 'not_found', message: 'There is no such report.' },
          { status: 404 },
        )
      return Response.json({ ...asJob(job), skipped: job.skipped })
    })

    kernel.reconcile(indexingJobRecords, async (job, { signal }) => {
      if (isOver(job.status)) return {}
      try {
        return await runs.step(job, signal)
      } catch (error) {
        if (signal.aborted) throw error
        return { change: (current) => failed(current, messageOf(error), timestamp(clock)) }
      }
    })
    kernel.onStop(() => runs.close())
  }

const unfinished: IndexingJobRecord['status'][] = [
  'INDEX_JOB_STATUS_PENDING',
  'INDEX_JOB_STATUS_IN_PROGRESS',
]

const failed = (job: IndexingJobRecord, problem: string, now: string): IndexingJobRecord => ({
  ...job,
  status: 'INDEX_JOB_STATUS_FAILED',
  updated_at: now,
  finished_at: now,
  sources: job.sources.map((source) =>
    source.completed_at
      ? source
      : { ...source, status: 'DATA_SOURCE_STATUS_FAILED', error_msg: problem, completed_at: now },
  ),
})
