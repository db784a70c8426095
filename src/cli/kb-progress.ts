import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '#client/client.ts'
import { indexingJobs, SkippedFile } from '#services/genai/indexing-jobs/contract.ts'
import { type IndexingJob, isOver } from '#services/genai/indexing-jobs/shapes.ts'
import type { Terminal } from './command.ts'

/** ms between looks at the job. */
const lookEvery = 300
const barWidth = 24

/** Shows how far a job is until it ends, then what came of it; answers the exit status. */
export const followJob = async (api: Api, uuid: string, terminal: Terminal): Promise<number> => {
  const begun = Date.now()
  for (;;) {
    const { job } = await api(indexingJobs.get, { path: { uuid } })
    if (isOver(job.status)) {
      if (terminal.columns) terminal.err('\r\u001b[K')
      await summarise(api, job, terminal)
      return job.status === 'INDEX_JOB_STATUS_FAILED' ? 1 : 0
    }
    if (terminal.columns) terminal.err(`\r\u001b[K${barOf(job, Date.now() - begun)}`)
    await sleep(lookEvery)
  }
}

const sum = (job: IndexingJob, field: 'total_bytes' | 'total_bytes_indexed' | 'total_file_count') =>
  job.data_source_jobs.reduce((total, source) => total + Number(source[field]), 0)

/** `[#######-----] 31 % of 120 files, about 2 min left`; `elapsed` in ms. */
export const barOf = (job: IndexingJob, elapsed: number): string => {
  const share = sum(job, 'total_bytes_indexed') / Math.max(1, sum(job, 'total_bytes'))
  const filled = Math.round(share * barWidth)
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`
  const left = share > 0.01 ? `, about ${timeOf((elapsed / share) * (1 - share))} left` : ''
  return `${bar} ${Math.round(share * 100)} % of ${sum(job, 'total_file_count')} files${left}`
}

const timeOf = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1000))
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

const summarise = async (api: Api, job: IndexingJob, { err }: Terminal) => {
  const total = (field: 'indexed_file_count' | 'indexed_item_count' | 'removed_item_count') =>
    job.data_source_jobs.reduce((count, source) => count + Number(source[field]), 0)
  const removed = total('removed_item_count')
  err(
    `${counted(total('indexed_file_count'), 'file')} indexed (${counted(total('indexed_item_count'), 'new chunk')})${removed ? `, ${removed} removed` : ''}.\n`,
  )
  for (const { error_msg } of job.data_source_jobs) if (error_msg) err(`Failed: ${error_msg}\n`)
  const { signed_url } = await api(indexingJobs.report, { path: { indexing_job_uuid: job.uuid } })
  const report = (await (await fetch(signed_url)).json()) as { skipped: unknown[] }
  const skipped = report.skipped.map((file) => SkippedFile.parse(file))
  if (skipped.length === 0) return
  err(`${skipped.length} skipped:\n`)
  for (const { path, reason } of skipped.slice(0, 20)) err(`  ${path} ${reason}\n`)
  if (skipped.length > 20) err(`  … and ${skipped.length - 20} more: ${signed_url}\n`)
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
