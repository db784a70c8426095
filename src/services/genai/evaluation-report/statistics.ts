/** From, to. */
export type Interval = readonly [low: number, high: number]

const z95 = 1.959964

/** Wilson's score interval of a share, 95 %: holds for few trials and for shares near 0 and 1. */
export const wilson = (hits: number, trials: number): Interval => {
  if (trials === 0) return [0, 1]
  const share = hits / trials
  const square = z95 ** 2 / trials
  const middle = (share + square / 2) / (1 + square)
  const half =
    (z95 / (1 + square)) * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials))
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const resamples = 2000
/** Beyond this many values the mean is normal for all purposes, and resampling would only take time. */
const many = 5000

/** Interval of a mean, 95 %, by the bias-corrected and accelerated bootstrap; the same every time. */
export const meanInterval = (values: readonly number[]): Interval => {
  const count = values.length
  const centre = mean(values)
  if (count < 2) return [centre, centre]
  if (count > many) {
    const half = (z95 * deviation(values)) / Math.sqrt(count)
    return [centre - half, centre + half]
  }
  const means = resampledMeans(values)
  const below = means.filter((one) => one < centre).length
  const level = means.filter((one) => one === centre).length
  const bias = quantileOf((below + level / 2) / resamples)
  const acceleration = skew(values, centre)
  const at = (z: number) => {
    const shifted = bias + z
    const share = normalShare(bias + shifted / (1 - acceleration * shifted))
    return means[Math.min(resamples - 1, Math.max(0, Math.floor(share * resamples)))] ?? centre
  }
  return [at(-z95), at(z95)]
}

const resampledMeans = (values: readonly number[]): number[] => {
  const random = dice(values.length)
  const means = Array.from({ length: resamples }, () => {
    let sum = 0
    for (let drawn = 0; drawn < values.length; drawn++) {
      sum += values[Math.floor(random() * values.length)] ?? 0
    }
    return sum / values.length
  })
  return means.sort((a, b) => a - b)
}

export interface Paired {
  pairs: number
  /** Mean of second minus first. */
  difference: number
  interval: Interval
  /** Chance of so large a mean difference if the two were the same: signs flipped at random. */
  p: number
  /** Pairs that pass only in the first, or only in the second, and McNemar's exact test of them. */
  onlyFirst: number
  onlySecond: number
  mcnemar: number
  /** The smallest true difference that so many pairs would mostly show (80 % of the time). */
  detectable: number
}

/** Compares two scores of the same rows. */
export const pairedComparison = (
  pairs: readonly (readonly [first: number, second: number])[],
  passes: (value: number) => boolean,
): Paired => {
  const differences = pairs.map(([first, second]) => second - first)
  const onlyFirst = pairs.filter(([first, second]) => passes(first) && !passes(second)).length
  const onlySecond = pairs.filter(([first, second]) => !passes(first) && passes(second)).length
  return {
    pairs: pairs.length,
    difference: mean(differences),
    interval: meanInterval(differences),
    p: flippedSigns(differences),
    onlyFirst,
    onlySecond,
    mcnemar: exactBinomial(Math.min(onlyFirst, onlySecond), onlyFirst + onlySecond),
    detectable: (2.8016 * deviation(differences)) / Math.sqrt(differences.length),
  }
}

const flippedSigns = (differences: readonly number[]): number => {
  const observed = Math.abs(mean(differences))
  if (observed === 0) return 1
  const random = dice(differences.length)
  let asLarge = 1
  for (let round = 1; round < resamples; round++) {
    let sum = 0
    for (const difference of differences) sum += random() < 0.5 ? difference : -difference
    if (Math.abs(sum / differences.length) >= observed - 1e-12) asLarge++
  }
  return asLarge / resamples
}

/** Two-sided chance of at most so few heads in fair throws. */
const exactBinomial = (fewer: number, throws: number): number => {
  if (throws === 0) return 1
  let logTerm = -throws * Math.LN2
  let sum = Math.exp(logTerm)
  for (let heads = 1; heads <= fewer; heads++) {
    logTerm += Math.log((throws - heads + 1) / heads)
    sum += Math.exp(logTerm)
  }
  return Math.min(1, 2 * sum)
}

const deviation = (values: readonly number[]): number => {
  const centre = mean(values)
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  return Math.sqrt(squares / Math.max(1, values.length - 1))
}

/** The acceleration of the bootstrap, which for a mean follows from its third moment. */
const skew = (values: readonly number[], centre: number): number => {
  let [second, third] = [0, 0]
  for (const value of values) {
    second += (centre - value) ** 2
    third += (centre - value) ** 3
  }
  return second === 0 ? 0 : third / (6 * second ** 1.5)
}

/** Share of the normal distribution below z. */
const normalShare = (z: number): number => {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return z > 0 ? 1 - tail : tail
}

const quantileOf = (share: number): number => {
  let [low, high] = [-8, 8]
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2
    if (normalShare(middle) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Numbers from 0 to 1 that are the same for the same seed. */
const dice = (seed: number): (() => number) => {
  let state = (seed * 2654435761 + 88172645) >>> 0 || 1
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}
