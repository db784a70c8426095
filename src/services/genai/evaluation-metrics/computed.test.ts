import { l as rouge } from 'js-rouge'
import { afterAll, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { computedScores, rougeL, tokenF1 } from './computed.ts'

const given = (output: string, truth: string) => ({
  output,
  truth,
  similarity: async () => 0.25,
  signal: new AbortController().signal,
})

const words = ['police', 'killed', 'the', 'gunman', 'kill', 'ended', 'a', 'street', 'was', 'by']
const sentence = (seed: number, length: number) =>
  Array.from(
    { length },
    (_, at) => words[(seed * 7 + at * at * 3 + (seed % 5) * at) % words.length],
  ).join(' ')

/** The textbook way: a table of the lengths of all prefixes. */
const slowRougeL = (output: string, truth: string): number => {
  const [a, b] = [output.split(' '), truth.split(' ')]
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) {
      const [row, next] = [table[i] ?? [], table[i + 1] ?? []]
      next[j + 1] = x === y ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0)
    }
  }
  const common = table[a.length]?.[b.length] ?? 0
  const [precision, recall] = [common / a.length, common / b.length]
  return common === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}

test('ROUGE-L is what the textbook and another library compute', () => {
  expect(rougeL('police kill the gunman', 'police killed the gunman')).toBe(0.75)
  for (let seed = 1; seed < 60; seed++) {
    const [a, b] = [sentence(seed, 3 + (seed % 90)), sentence(seed * 3 + 1, 2 + ((seed * 5) % 80))]
    expect(rougeL(a, b)).toBeCloseTo(slowRougeL(a, b), 12)
    expect(rougeL(a, b)).toBeCloseTo(rouge(a, b, { beta: 1 }), 6)
  }
})

test('a long answer takes no time', () => {
  const long = sentence(3, 20_000)
  const started = performance.now()
  expect(rougeL(long, long)).toBe(1)
  expect(performance.now() - started).toBeLessThan(2000)
})

test('token F1 is that of the question-answering benchmarks', () => {
  expect(tokenF1('The Eiffel Tower.', 'eiffel tower')).toBe(1)
  expect(tokenF1('in Paris, France', 'Paris')).toBeCloseTo(0.5)
  expect(tokenF1('the cat sat on the mat', 'a cat on a red mat')).toBeCloseTo(0.75)
  expect(tokenF1('no', 'yes')).toBe(0)
  expect(tokenF1('', '')).toBe(1)
})

test.each([
  ['Exact match', ' yes\n', 'yes', 100],
  ['Exact match', 'Yes', 'yes', 0],
  ['Contains ground truth', 'It is  PARIS, I think.', 'paris', 100],
  ['Contains ground truth', 'It is Rome.', 'paris', 0],
  ['JSON validity', ' {"a": [1]} ', '', 100],
  ['JSON validity', '```json\n{}\n```', '', 0],
  ['Semantic similarity (MiniLM)', 'a', 'b', 25],
])('%s of %j against %j is %d', async (name, output, truth, value) => {
  expect(await computedScores[name]?.(given(output, truth))).toBe(value)
})

let cove: World | undefined
afterAll(() => cove?.close())

test('every built-in metric that is computed has its computation, and is named for what it is', async () => {
  cove = await world()
  const { metrics, count } = await cove.tool('genai-model-eval-list-metrics')
  const all = metrics as {
    metric_name: string
    scoring: string
    description: string
    category: string
  }[]
  expect(count).toBe(all.length)
  const computed = all.filter(({ scoring }) => scoring === 'computed')
  expect(computed.map(({ metric_name }) => metric_name).toSorted()).toEqual(
    Object.keys(computedScores).toSorted(),
  )
  for (const { description } of computed) expect(description).toContain('Computed, no judge model.')
  const agents = (await cove.tool('genai-list-evaluation-metrics')).metrics as typeof all
  expect(new Set(agents.map(({ category }) => category)).size).toBe(5)
})
