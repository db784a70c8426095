import { ApiError } from '#core/error.ts'
import type { RetrieveRequest } from '#knowledge/endpoint.ts'
import type { Hit } from '#knowledge/index/index.ts'
import type { Knowledge } from '#knowledge/knowledge.ts'
import type { Store } from '#platform/store/store.ts'
import { indexingJobRecords } from '../indexing-jobs/contract.ts'
import { isOver } from '../indexing-jobs/shapes.ts'
import { requireBase } from './bases.ts'
import { baseOf } from './contract.ts'

/** Searches a base, or says why there is nothing to search. */
export const createRetrieve =
  (store: Store, knowledge: Knowledge) =>
  async ({ knowledgeBase, ...request }: RetrieveRequest): Promise<Hit[]> => {
    const record = await requireBase(store, knowledgeBase)
    const base = baseOf(record)
    const { chunks } = await knowledge.stats(base)
    if (chunks > 0) return knowledge.search(base, request)
    const [job] = await store
      .collection(indexingJobRecords)
      .list({ where: { knowledge_base_uuid: knowledgeBase }, newestFirst: true, limit: 1 })
    if (!job)
      throw ApiError.conflict(
        `Knowledge base ${knowledgeBase} has no index yet: add a data source and start an indexing job.`,
      )
    if (!isOver(job.status))
      throw ApiError.conflict(
        `Knowledge base ${knowledgeBase} is still being indexed: try again in a moment.`,
      )
    if (job.status === 'INDEX_JOB_STATUS_FAILED')
      throw ApiError.conflict(
        `Knowledge base ${knowledgeBase} has no index: its last indexing job failed. ${job.sources.find(({ error_msg }) => error_msg)?.error_msg ?? ''}`.trim(),
      )
    return []
  }
