import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { type KnowledgeBaseRecord, knowledgeBaseRecords } from './contract.ts'

/** A base that is there and is not going away. */
export const requireBase = async (store: Store, uuid: string): Promise<KnowledgeBaseRecord> => {
  const record = await store.collection(knowledgeBaseRecords).get(uuid)
  if (!record || record.deleting) throw ApiError.notFound(`Knowledge base ${uuid}`)
  return record
}
