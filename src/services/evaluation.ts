import { join } from 'node:path'
import { builtFile } from '#core/built.ts'
import { ApiError } from '#core/error.ts'
import { createObjects, objectsPath } from '#engines/objects/objects.ts'
import { builtInEmbedder, WorkerPool } from '#knowledge/pool.ts'
import { wireError } from '#platform/app.ts'
import type { Kernel, Service } from '#platform/service.ts'
import { agentService } from './genai/agents/platform.ts'
import { datasetService } from './genai/evaluation-datasets/platform.ts'
import type { EngineParts } from './genai/evaluation-engine/bench.ts'
import { evaluationEngine } from './genai/evaluation-engine/engine.ts'
import type { Similarity } from './genai/evaluation-metrics/computed.ts'
import { metricService } from './genai/evaluation-metrics/platform.ts'
import { evaluationRunService } from './genai/evaluation-runs/platform.ts'
import { testCaseService } from './genai/evaluation-test-cases/platform.ts'
import { modelEvaluationService } from './genai/model-evaluations/platform.ts'
import { workspaceService } from './genai/workspaces/platform.ts'

type Parts = Pick<EngineParts, 'chat' | 'env'> & {
  /** Where Cove answers. */
  url: () => string
}

/** Evaluations, with the object store that their datasets and results lie in. */
export const evaluationServices =
  ({ url, ...parts }: Parts): Service =>
  (on, kernel) => {
    const folder = kernel.folder('evaluations')
    const objects = createObjects({ folder, now: kernel.clock.now, url })
    kernel.route(`${objectsPath}*`, (request) =>
      objects.serve(request).catch((error) => {
        if (error instanceof ApiError) return wireError(error, kernel.ids.uuid())
        throw error
      }),
    )
    const services = [
      workspaceService,
      agentService,
      metricService,
      datasetService(objects),
      testCaseService,
      evaluationRunService,
      modelEvaluationService(objects),
      evaluationEngine({
        ...parts,
        objects,
        similarity: localSimilarity(kernel),
        fetch: (request) => fetch(request),
      }),
    ]
    for (const service of services) service(on, kernel)
  }

/** By the model that embeds documents, in a thread of its own that starts when it is needed. */
const localSimilarity = (kernel: Kernel): Similarity => {
  const pool = new WorkerPool({
    script: builtFile('knowledge.worker.js'),
    modelFolder: join(kernel.folder('knowledge'), 'models'),
    threads: 1,
    clock: kernel.clock,
  })
  kernel.onStop(() => pool.close())
  const embedder = builtInEmbedder(pool)
  return async (a, b, signal) => {
    const [first, second] = await embedder.embed([a, b], { signal })
    if (!first || !second) throw ApiError.unavailable('The embedding model gave no vectors.')
    return first.reduce((sum, part, at) => sum + part * (second[at] ?? 0), 0)
  }
}
