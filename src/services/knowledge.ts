import { createKnowledge } from '#knowledge/knowledge.ts'
import type { Service } from '#platform/service.ts'
import { version } from '#version.ts'
import { indexingJobService } from './genai/indexing-jobs/platform.ts'
import { knowledgeBaseService } from './genai/knowledge-bases/platform.ts'

/** Knowledge bases, their indexing jobs and the endpoint that searches them. */
export const knowledgeService: Service = (on, kernel) => {
  const knowledge = createKnowledge({
    folder: kernel.folder('knowledge'),
    clock: kernel.clock,
    secret: (name) => process.env[name],
  })
  knowledgeBaseService(knowledge, version)(on, kernel)
  indexingJobService(knowledge)(on, kernel)
}
