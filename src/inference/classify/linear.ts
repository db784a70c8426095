import { dimensions, featuresOf } from './features.ts'

export interface LinearModel {
  /** The probability of each label, in the order of their numbers. */
  probabilities(text: string): Float64Array
}

export interface Example {
  readonly text: string
  readonly label: number
}

const epochs = 12
const rate = 0.2
const decay = 1e-5
/** Faults smaller than this teach nothing worth the time. */
const negligible = 2e-3
/** Rows learned between two breaths of the event loop. */
const gulp = 32

/**
 * Trains a softmax regression over hashed features (AdaGrad). Deterministic: the same examples
 * make the same model. Others get their turn while it learns.
 */
export const train = async (
  examples: readonly Example[],
  labels: number,
  breathe: () => Promise<void>,
): Promise<LinearModel> => {
  const rows = examples.map(({ text, label }) => ({ features: featuresOf(text), label }))
  const rarity = rarityOf(rows.map(({ features }) => features))
  const weights = new Float32Array(dimensions * labels)
  const squares = new Float32Array(dimensions * labels)

  const scored = (features: ReadonlyMap<number, number>) => {
    const scores = new Float64Array(labels)
    let norm = 0
    for (const [feature, weight] of features) {
      const value = weight * at(rarity, feature)
      if (value === 0) continue
      norm += value * value
      // The innermost loop of a request: both indexes are in range by construction.
      for (let label = 0, place = feature * labels; label < labels; label++, place++)
        scores[label] = (scores[label] as number) + value * (weights[place] as number)
    }
    const scale = norm > 0 ? 1 / Math.sqrt(norm) : 0
    return { chances: softmax(scores.map((score) => score * scale)), scale }
  }

  const learn = ({ features, label: right }: (typeof rows)[number]) => {
    const { chances, scale } = scored(features)
    const faults = [...chances]
      .map((chance, label) => ({ label, fault: label === right ? chance - 1 : chance }))
      .filter(({ fault }) => Math.abs(fault) > negligible)
    for (const [feature, weight] of features) {
      const value = weight * at(rarity, feature) * scale
      for (const { label, fault } of faults) {
        const place = feature * labels + label
        const slope = fault * value + decay * at(weights, place)
        squares[place] = at(squares, place) + slope * slope
        weights[place] = at(weights, place) - (rate * slope) / Math.sqrt(1e-6 + at(squares, place))
      }
    }
  }

  const step = strideOf(rows.length)
  for (let turn = 0; turn < epochs * rows.length; turn++) {
    // A fixed stride visits every row, far from its neighbours, which have the same label.
    const row = rows[(turn * step) % rows.length]
    if (row) learn(row)
    if (turn % gulp === 0) await breathe()
  }
  return { probabilities: (text) => scored(featuresOf(text)).chances }
}

const at = (numbers: Float32Array | Float64Array, index: number): number => numbers[index] ?? 0

/** How much a feature tells: those of few examples more than those of many, unseen ones nothing. */
const rarityOf = (rows: readonly ReadonlyMap<number, number>[]): Float32Array => {
  const seen = new Float32Array(dimensions)
  for (const row of rows) for (const feature of row.keys()) seen[feature] = at(seen, feature) + 1
  return seen.map((count) => (count > 0 ? Math.log(1 + rows.length / count) : 0))
}

const softmax = (scores: Float64Array): Float64Array => {
  const highest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const powers = scores.map((score) => Math.exp(score - highest))
  const total = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / total)
}

/** A step near the golden section of the length that has no factor in common with it. */
const strideOf = (length: number): number => {
  let step = Math.max(1, Math.round(length * 0.618))
  while (commonFactor(step, length) !== 1) step++
  return step
}

const commonFactor = (a: number, b: number): number => (b === 0 ? a : commonFactor(b, a % b))
