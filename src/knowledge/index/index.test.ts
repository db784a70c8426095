import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seeded } from '../../../test/random.ts'
import { unit } from '../embed/embedder.ts'
import { parseFilter } from '../filter.ts'
import { openEmbeddedIndex } from './embedded.ts'
import { fuse } from './fusion.ts'
import type { Chunk, Document, Index, Metadata } from './index.ts'
import { stem } from './stem.ts'
import { termsOf } from './terms.ts'
import { quantise, Vectors } from './vectors.ts'

const width = 16
let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'cove-index-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const document = (path: string, metadata: Metadata = {}): Document => ({
  source: 'files',
  path,
  fingerprint: path,
  bytes: 1,
  metadata: { path, ...metadata },
})

/** A direction of its own for each number. */
const towards = (axis: number) =>
  unit(Array.from({ length: width }, (_, at) => (at === axis ? 1 : 0.01)))
const chunk = (text: string, axis: number, metadata: Metadata = {}): Chunk => ({
  text,
  heading: '',
  metadata,
  vector: towards(axis),
})

const texts = async (index: Index, text: string, alpha = 0, axis = 0, filter?: unknown) =>
  (
    await index.search({
      text,
      vector: towards(axis),
      alpha,
      limit: 10,
      ...(filter !== undefined && { filter: parseFilter(filter) }),
    })
  ).map((hit) => hit.text)

describe('words', () => {
  test.each([
    ['connections', 'connect'],
    ['relational', 'relat'],
    ['ponies', 'poni'],
    ['hopping', 'hop'],
    ['happy', 'happi'],
    ['generalizations', 'gener'],
    ['agreed', 'agre'],
    ['controlling', 'control'],
    ['adoption', 'adopt'],
  ])('%s is stemmed to %s', (word, expected) => expect(stem(word)).toBe(expected))

  test('text is cut into words of every script, and names into their parts', () => {
    expect(termsOf('The Café re-opened')).toEqual(['cafe', 're', 'open'])
    expect(termsOf('readFileSync')).toEqual(['readfilesync', 'read', 'file', 'sync'])
    expect(termsOf('知识库')).toEqual(['知识', '识库'])
    expect(termsOf('서버 오류')).toEqual(['서버', '오류'])
    expect(termsOf('Straße ЁЛКА')).toEqual(['straße', 'елка'])
  })
})

test('a changed document replaces its chunks at once, and a deleted one is gone, also after reopening', async () => {
  const folder = join(home, 'replace')
  let index = await openEmbeddedIndex(folder, width)
  await index.upsert(document('a'), [chunk('old apples', 0), chunk('old pears', 1)])
  await index.upsert(document('b'), [chunk('plums', 2)])
  await index.upsert(document('a'), [chunk('new apples', 3)])
  const check = async () => {
    expect(await texts(index, 'apples pears plums')).toEqual(['plums', 'new apples'])
    expect(await index.stats()).toEqual({ documents: 2, chunks: 2 })
  }
  await check()
  await index.close()
  index = await openEmbeddedIndex(folder, width)
  await check()
  await index.delete('files', ['a'])
  expect(await texts(index, 'apples plums')).toEqual(['plums'])
  expect(await texts(index, '', 1, 3)).toEqual(['plums'])
  await index.close()
})

test('fields of a document can change without its chunks, and filters see it', async () => {
  const index = await openEmbeddedIndex(join(home, 'describe'), width)
  await index.upsert(document('a', { team: 'x' }), [chunk('apples', 0, { page: 1 })])
  const filter = {
    and_all: [{ equals: { key: 'team', value: 'y' } }, { equals: { key: 'page', value: 1 } }],
  }
  expect(await texts(index, 'apples', 0, 0, filter)).toEqual([])
  await index.describe(document('a', { team: 'y' }))
  const [hit] = await index.search({
    text: 'apples',
    alpha: 0,
    limit: 1,
    filter: parseFilter(filter),
  })
  expect(hit?.metadata).toEqual({ path: 'a', team: 'y', page: 1 })
  await index.close()
})

test('a filter is applied before ranking: the results are filled up', async () => {
  const index = await openEmbeddedIndex(join(home, 'filled'), width)
  const chunks = Array.from({ length: 400 }, (_, at) =>
    chunk(`apples ${'apples '.repeat(at % 7)}`, at % width, { rare: at % 40 === 0 ? 1 : 0 }),
  )
  await index.upsert(document('many'), chunks)
  for (const alpha of [0, 0.5, 1])
    expect(
      await texts(index, 'apples', alpha, 3, { equals: { key: 'rare', value: 1 } }),
      `alpha ${alpha}`,
    ).toHaveLength(10)
  await index.close()
})

test('the order of equals is that of writing, the same every time and after reopening', async () => {
  const folder = join(home, 'order')
  let index = await openEmbeddedIndex(folder, width)
  for (const name of ['cc', 'aa', 'bb'])
    await index.upsert(document(name), [chunk(`equal ${name}`, 0)])
  const order = ['equal cc', 'equal aa', 'equal bb']
  for (const alpha of [0, 0.5, 1]) expect(await texts(index, 'equal', alpha)).toEqual(order)
  await index.close()
  index = await openEmbeddedIndex(folder, width)
  for (const alpha of [0, 0.5, 1]) expect(await texts(index, 'equal', alpha)).toEqual(order)
  await index.close()
})

test('keyword search agrees with BM25 worked out one text at a time', async () => {
  const random = seeded(5)
  const index = await openEmbeddedIndex(join(home, 'bm25'), width)
  const words = ['ant', 'bee', 'cow', 'dog', 'elk', 'fox', 'gnu', 'hen']
  const corpus = Array.from({ length: 5000 }, () =>
    Array.from(
      { length: 1 + Math.floor(random() * 8) },
      () => words[Math.floor(random() ** 2 * 8)] ?? '',
    ),
  )
  for (let at = 0; at < corpus.length; at += 500)
    await index.upsert(
      document(`d${at}`),
      corpus.slice(at, at + 500).map((text) => chunk(text.join(' '), 0)),
    )
  await index.delete('files', ['d500'])
  const living = corpus.filter((_, at) => at < 500 || at >= 1000)
  const average = living.reduce((sum, text) => sum + text.length, 0) / living.length
  const score = (text: readonly string[], query: readonly string[]) =>
    query.reduce((sum, word) => {
      const holding = living.filter((other) => other.includes(word)).length
      const rarity = Math.log(1 + (living.length - holding + 0.5) / (holding + 0.5))
      const count = text.filter((other) => other === word).length
      return sum + (rarity * 2.2 * count) / (count + 1.2 * (0.25 + (0.75 * text.length) / average))
    }, 0)
  const query = ['hen', 'gnu']
  const best = living
    .map((text) => score(text, query))
    .sort((a, b) => b - a)
    .slice(0, 10)
  const hits = await index.search({ text: query.join(' '), alpha: 0, limit: 10 })
  expect(hits.map((hit) => hit.score.toFixed(4))).toEqual(best.map((one) => one.toFixed(4)))
  await index.close()
})

test('vector search finds the true neighbours among many, and forgets the removed', () => {
  const random = seeded(9)
  const wide = 200
  const vectors = new Vectors(wide)
  const all = Array.from({ length: 6000 }, () =>
    unit(Array.from({ length: wide }, () => random() - 0.5)),
  )
  for (const [slot, vector] of all.entries()) vectors.add(slot, quantise(vector))
  let found = 0
  for (let round = 0; round < 20; round++) {
    const near = all[round * 100] ?? new Float32Array()
    const query = unit(Array.from(near, (part) => part + (random() - 0.5) * 0.1))
    const truth = all
      .map((vector, slot) => ({
        slot,
        score: vector.reduce((sum, part, at) => sum + part * (query[at] ?? 0), 0),
      }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 10)
    const hits = vectors.nearest(query, vectors.candidates(query), 10)
    expect(hits[0]?.slot).toBe(truth[0]?.slot)
    expect(hits[0]?.score).toBeCloseTo(truth[0]?.score ?? 0, 2)
    found += hits.filter(({ slot }) => truth.some((other) => other.slot === slot)).length
  }
  expect(found / 200).toBeGreaterThan(0.95)
  vectors.remove(100)
  const gone = all[100] ?? new Float32Array()
  expect(vectors.nearest(gone, vectors.candidates(gone), 10).some(({ slot }) => slot === 100)).toBe(
    false,
  )
})

describe('fusion', () => {
  const keyword = [
    { slot: 1, score: 8 },
    { slot: 2, score: 4 },
  ]
  const semantic = [
    { slot: 3, score: 0.9 },
    { slot: 2, score: 0.8 },
    { slot: 1, score: 0.4 },
  ]
  test('weighs both sides by alpha, each brought to 0…1', () => {
    expect(fuse(keyword, semantic, 0.5)).toEqual([
      { slot: 2, score: 0.5 * 0.5 + 0.5 * 0.8 },
      { slot: 1, score: 0.5 },
      { slot: 3, score: 0.5 },
    ])
  })
  test('at its ends is one side alone', () => {
    expect(fuse(keyword, semantic, 0).map(({ slot }) => slot)).toEqual([1, 2])
    expect(fuse(keyword, semantic, 1).map(({ slot }) => slot)).toEqual([3, 2, 1])
    expect(fuse([], semantic, 0.5).map(({ slot }) => slot)).toEqual([3, 2, 1])
  })
  test('a single hit, and equal ones, count in full', () => {
    expect(fuse([], [{ slot: 5, score: 0.1 }], 0.5)).toEqual([{ slot: 5, score: 0.5 }])
  })
})
