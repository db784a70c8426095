/** Nearness of two texts from -1 to 1, by whatever embeds them. */
export type Similarity = (a: string, b: string, signal: AbortSignal) => Promise<number>

interface Given {
  output: string
  truth: string
  similarity: Similarity
  signal: AbortSignal
}

/** From 0 to 100, by the name of the metric. */
export const computedScores: Record<string, (given: Given) => number | Promise<number>> = {
  'Exact match': ({ output, truth }) => percent(output.trim() === truth.trim()),
  'Contains ground truth': ({ output, truth }) => percent(plain(output).includes(plain(truth))),
  'Token F1': ({ output, truth }) => 100 * tokenF1(output, truth),
  'ROUGE-L': ({ output, truth }) => 100 * rougeL(output, truth),
  'JSON validity': ({ output }) => percent(isJson(output)),
  'Semantic similarity (MiniLM)': async ({ output, truth, similarity, signal }) =>
    100 * Math.min(1, Math.max(0, await similarity(output, truth, signal))),
}

const percent = (holds: boolean): number => (holds ? 100 : 0)

const plain = (text: string): string =>
  text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** As question-answering benchmarks do it: no case, punctuation or English articles. */
export const tokenF1 = (output: string, truth: string): number => {
  const [said, expected] = [answerTokens(output), answerTokens(truth)]
  if (said.length === 0 || expected.length === 0) return said.length === expected.length ? 1 : 0
  const left = new Map<string, number>()
  for (const token of expected) left.set(token, (left.get(token) ?? 0) + 1)
  let shared = 0
  for (const token of said) {
    const count = left.get(token) ?? 0
    if (count === 0) continue
    left.set(token, count - 1)
    shared++
  }
  return harmonic(shared / said.length, shared / expected.length)
}

const answerTokens = (text: string): string[] =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\p{P}\p{S}]/gu, '')
    .split(/\s+/)
    .filter((token) => token !== '' && !/^(a|an|the)$/.test(token))

export const rougeL = (output: string, truth: string): number => {
  const [said, expected] = [words(output), words(truth)]
  if (said.length === 0 || expected.length === 0) return 0
  const common = commonSubsequence(said, expected)
  return harmonic(common / said.length, common / expected.length)
}

const words = (text: string): string[] =>
  text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const harmonic = (a: number, b: number): number => (a + b === 0 ? 0 : (2 * a * b) / (a + b))

/**
 * Length of the longest common subsequence, 32 places at a time: bit i of `row` is clear where the
 * subsequence grows at place i of `a`. Long answers take milliseconds.
 */
const commonSubsequence = (a: readonly string[], b: readonly string[]): number => {
  const size = Math.ceil(a.length / 32)
  const places = new Map<string, Uint32Array>()
  for (const [at, word] of a.entries()) {
    const bits = places.get(word) ?? new Uint32Array(size)
    places.set(word, bits)
    bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31))
  }
  const row = new Uint32Array(size).fill(0xffffffff)
  for (const word of b) {
    const bits = places.get(word)
    if (!bits) continue
    let carry = 0
    for (let at = 0; at < size; at++) {
      const old = row[at] ?? 0
      const match = (old & (bits[at] ?? 0)) >>> 0
      const sum = old + match + carry
      carry = sum > 0xffffffff ? 1 : 0
      row[at] = (sum >>> 0) | (old & ~match)
    }
  }
  let length = 0
  for (let at = 0; at < a.length; at++)
    if (((row[at >>> 5] ?? 0) & (1 << (at & 31))) === 0) length++
  return length
}
