import { usageRecords } from '#platform/meter.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { billedMonths, costOf, endOf, invoiceNumbers, type Month, money, monthOf } from './bill.ts'
import { billing } from './contract.ts'

const estimate =
  'These amounts are an estimate: what ran on this machine, at the prices the public cloud lists. Nothing is charged.'

export const billingService: Service = (on, { store, clock }) => {
  const usage = store.collection(usageRecords)

  const invoiceOf = async (month: Month) => ({
    ...invoiceNumbers(month),
    amount: money(costOf(await usage.list(), month, clock.now())),
    invoice_period: month,
    updated_at: new Date(Math.min(endOf(month), clock.now())).toISOString(),
  })

  const finished = async () => {
    const months = billedMonths(await usage.list(), clock.now())
    return Promise.all(months.map(invoiceOf))
  }

  on(billing.balance, async ({ note }) => {
    note(estimate)
    const cost = money(costOf(await usage.list(), monthOf(clock.now()), clock.now()))
    return {
      month_to_date_balance: cost,
      account_balance: '0.00',
      month_to_date_usage: cost,
      generated_at: new Date(clock.now()).toISOString(),
    }
  })

  on(billing.history, async ({ query, note }) => {
    note(estimate)
    const entries = (await finished()).map((invoice) => ({
      description: `Invoice for ${invoice.invoice_period}`,
      amount: invoice.amount,
      invoice_id: invoice.invoice_id,
      invoice_uuid: invoice.invoice_uuid,
      date: invoice.updated_at,
      type: 'Invoice' as const,
    }))
    return pageOfItems('billing_history', entries, query)
  })

  on(billing.invoices, async ({ query, note }) => {
    note(estimate)
    return {
      ...pageOfItems('invoices', await finished(), query),
      invoice_preview: await invoiceOf(monthOf(clock.now())),
    }
  })
}
