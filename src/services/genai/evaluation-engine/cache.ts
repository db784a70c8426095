import { collection } from '#core/collection.ts'
import type { ChatAnswer } from './models.ts'

/** Answers by the request that was answered; failures are never kept. */
export const answerCache = collection<{ hash: string; answer: ChatAnswer }>('evaluation_cache', {
  called: 'Kept answer',
  key: 'hash',
})
