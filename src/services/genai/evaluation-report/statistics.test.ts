import { expect, test } from 'vitest'
import { meanInterval, pairedComparison, wilson } from './statistics.ts'

test('Wilson intervals are those of the tables', () => {
  const close = ([low, high]: readonly [number, number], [a, b]: [number, number]) => {
    expect(low).toBeCloseTo(a, 4)
    expect(high).toBeCloseTo(b, 4)
  }
  close(wilson(8, 10), [0.4902, 0.9433])
  close(wilson(0, 20), [0, 0.1611])
  close(wilson(50, 100), [0.4038, 0.5962])
  expect(wilson(0, 0)).toEqual([0, 1])
})

const dice = (seed: number) => () => {
  seed = (seed * 1103515245 + 12345) % 2 ** 31
  return seed / 2 ** 31
}

test('nineteen of twenty intervals hold the true mean', () => {
  const random = dice(1)
  let held = 0
  const rounds = 200
  for (let round = 0; round < rounds; round++) {
    // Skewed values with a mean of 50.
    const values = Array.from({ length: 40 }, () => 150 * random() ** 2)
    const [low, high] = meanInterval(values)
    if (low <= 50 && 50 <= high) held++
  }
  expect(held / rounds).toBeGreaterThan(0.9)
  expect(held / rounds).toBeLessThan(0.99)
})

test('the interval is the same every time, and narrows with the number of values', () => {
  const random = dice(2)
  const values = Array.from({ length: 400 }, () => 100 * random())
  expect(meanInterval(values)).toEqual(meanInterval(values))
  const width = ([low, high]: readonly [number, number]) => high - low
  expect(width(meanInterval(values)) / width(meanInterval(values.slice(0, 100)))).toBeCloseTo(
    0.5,
    0,
  )
  expect(meanInterval([7])).toEqual([7, 7])
})

test('two runs are compared pair by pair', () => {
  const random = dice(3)
  const passes = (value: number) => value >= 50
  const same = Array.from({ length: 200 }, () => [100 * random(), 100 * random()] as const)
  const alike = pairedComparison(same, passes)
  expect(alike.p).toBeGreaterThan(0.05)
  const better = same.map(([first]) => [first, Math.min(100, first + 20 * random())] as const)
  const found = pairedComparison(better, passes)
  expect(found.p).toBeLessThan(0.01)
  expect(found.interval[0]).toBeGreaterThan(0)
  expect(found.onlyFirst).toBe(0)
  // Exact test of n discordant pairs that all go one way: 2 / 2^n.
  expect(found.mcnemar).toBeCloseTo(2 ** (1 - found.onlySecond), 12)
  expect(pairedComparison(better.slice(0, 50), passes).detectable).toBeGreaterThan(found.detectable)
})
