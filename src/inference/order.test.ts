import { expect, test } from 'vitest'
import { testClock } from '../../test/clock.ts'
import type { Endpoint } from './endpoint.ts'
import { ordered } from './order.ts'
import { createSpeed } from './upstream/speed.ts'

const endpoint = (model: string, prices: [number, number] | [] = []): Endpoint => ({
  key: model,
  provider: 'p',
  model,
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKeyEnv: null,
  priceIn: prices[0] ?? null,
  priceOut: prices[1] ?? null,
  contextWindow: null,
  maxConcurrency: null,
})

const names = (endpoints: readonly Endpoint[]) => endpoints.map(({ model }) => model)
const demand = { input: 1000, limit: 100 }
const idle = () => false

test('without a preference the order is the one that was written', () => {
  const all = ['c', 'a', 'b'].map((model) => endpoint(model))
  const speed = createSpeed(testClock())
  expect(names(ordered(all, undefined, demand, speed, idle))).toEqual(['c', 'a', 'b'])
  expect(names(ordered(all, 'none', demand, speed, idle))).toEqual(['c', 'a', 'b'])
})

test('cheapest weighs what goes in against what comes out, and takes the unpriced last', () => {
  const all = [endpoint('unpriced'), endpoint('dear-in', [10, 1]), endpoint('dear-out', [1, 20])]
  const speed = createSpeed(testClock())
  const order = (input: number, limit: number) =>
    names(ordered(all, 'cheapest', { input, limit }, speed, idle))
  expect(order(10_000, 10)).toEqual(['dear-out', 'dear-in', 'unpriced'])
  expect(order(10, 10_000)).toEqual(['dear-in', 'dear-out', 'unpriced'])
})

test('fastest follows what was measured, and older measurements count less', () => {
  const clock = testClock()
  const speed = createSpeed(clock)
  const [slow, quick] = [endpoint('slow'), endpoint('quick')]
  const order = () => names(ordered([slow, quick], 'fastest', demand, speed, idle))
  speed.record(slow, { first: 900, total: 2900, output: 100 })
  speed.record(quick, { first: 100, total: 1100, output: 100 })
  expect(order()).toEqual(['quick', 'slow'])
  clock.advance(240_000)
  speed.record(slow, { first: 50, total: 150, output: 100 })
  speed.record(slow, { first: 50, total: 150, output: 100 })
  speed.record(slow, { first: 50, total: 150, output: 100 })
  expect(order()).toEqual(['slow', 'quick'])
})

test('fastest sends one request at a time to a model that nobody measured lately', () => {
  const clock = testClock()
  const speed = createSpeed(clock)
  const [known, fresh] = [endpoint('known'), endpoint('fresh')]
  speed.record(known, { first: 10, total: 20, output: 100 })
  const order = (busy: (e: Endpoint) => boolean) =>
    names(ordered([known, fresh], 'fastest', demand, speed, busy))
  expect(order(idle)).toEqual(['fresh', 'known'])
  expect(order((e) => e === fresh)).toEqual(['known', 'fresh'])
  speed.record(fresh, { first: 500, total: 900, output: 100 })
  expect(order(idle)).toEqual(['known', 'fresh'])
  clock.advance(3_600_000)
  expect(order(idle)).toEqual(['known', 'fresh'])
})
