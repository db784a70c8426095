import { afterAll, beforeAll, expect, test } from 'vitest'
import type { UsageRecord } from '#platform/meter.ts'
import { type World, world } from '../../../../test/world.ts'
import { costOf } from './bill.ts'
import { billing } from './contract.ts'

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

const hour = 3_600_000
const day = 24 * hour

test('what ran is what the bill shows, month by month', async () => {
  const { meter } = cove.kernel
  const size = { product: 'Databases', description: 'db-s-1vcpu-1gb' }
  await meter.start({ urn: 'cove:database:a', hourly: 0.022, ...size })
  cove.clock.advance(10 * hour)
  expect(await cove.tool('balance-get')).toMatchObject({
    month_to_date_usage: '0.22',
    month_to_date_balance: '0.22',
    account_balance: '0.00',
  })
  // A larger size from now on; the price changes with it.
  await meter.start({ urn: 'cove:database:a', hourly: 0.1, ...size })
  cove.clock.advance(2 * hour)
  await meter.stop('cove:database:a')
  cove.clock.advance(day)
  expect(await cove.api(billing.balance, {})).toMatchObject({ month_to_date_usage: '0.42' })
  expect(await cove.tool('invoice-list')).toMatchObject({
    invoices: [],
    invoice_preview: { amount: '0.42', invoice_period: '2026-01' },
  })

  cove.clock.advance(35 * day)
  const history = await cove.tool('billing-history-list')
  expect(history).toMatchObject({
    billing_history: [{ type: 'Invoice', amount: '0.42', description: 'Invoice for 2026-01' }],
    meta: { total: 1 },
  })
  expect(await cove.api(billing.invoices, {})).toMatchObject({
    invoices: [{ invoice_period: '2026-01', amount: '0.42' }],
    invoice_preview: { amount: '0.00' },
  })
})

test('a month costs at most its monthly price', () => {
  const record: UsageRecord = {
    id: 1,
    urn: 'cove:droplet:1',
    product: 'Droplets',
    description: 's-1vcpu-1gb',
    hourly: 0.01,
    started_at: '2026-01-01T00:00:00Z',
    ended_at: null,
  }
  expect(costOf([record], '2026-01', Date.parse('2026-03-01'))).toBeCloseTo(6.72)
})
