import { parentPort, workerData } from 'node:worker_threads'
import { chunkDocument } from './chunk.ts'
import type { Model } from './embed/minilm.ts'
import type { Tokenizer } from './embed/wordpiece.ts'
import { parseFile } from './parse/formats.ts'
import type { Answer, Job, WorkerSettings } from './pool.ts'

/** Runs in a thread of its own what would hold up the server: reading documents, and the model. */

const { modelFolder } = workerData as WorkerSettings
let model: Promise<Model> | undefined
let tokenizer: Promise<Tokenizer> | undefined

const miniLm = () => import('./embed/minilm.ts')

const work = async (job: Job): Promise<Answer> => {
  if (job.kind === 'embed') {
    model ??= miniLm().then(({ loadMiniLm }) => loadMiniLm(modelFolder))
    const { vector } = await model
    const vectors: Float32Array[] = []
    for (const text of job.texts) vectors.push(await vector(text))
    return { kind: 'embed', vectors }
  }
  tokenizer ??= miniLm().then(({ loadTokenizer }) => loadTokenizer())
  const parsed = await parseFile(job.bytes, job.name)
  const { count } = await tokenizer
  return {
    kind: 'read',
    ...(parsed.title !== undefined && { title: parsed.title }),
    metadata: parsed.metadata,
    passages: chunkDocument(parsed, job.chunking, count),
  }
}

const answer = async (job: Job): Promise<void> => {
  try {
    parentPort?.postMessage({ answer: await work(job) })
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    parentPort?.postMessage({ failure: { name, message } })
  }
}

// Answers are told in the order of the jobs.
let turn: Promise<void> = Promise.resolve()
parentPort?.on('message', (job: Job) => {
  turn = turn.then(() => answer(job))
})
