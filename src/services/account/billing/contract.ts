import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, Page } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

const { get } = resource('billing')

export const Balance = z.object({
  month_to_date_balance: z.string(),
  account_balance: z.string(),
  month_to_date_usage: z.string(),
  generated_at: Timestamp,
})

export const BillingEntry = z.object({
  description: z.string(),
  amount: z.string(),
  invoice_id: z.string(),
  invoice_uuid: z.string(),
  date: Timestamp,
  type: z.enum([
    'ACHFailure',
    'Adjustment',
    'AttemptFailed',
    'Chargeback',
    'Credit',
    'CreditExpiration',
    'Invoice',
    'Payment',
    'Refund',
    'Reversal',
  ]),
})

export const Invoice = z.object({
  invoice_uuid: z.string(),
  invoice_id: z.string(),
  amount: z.string(),
  invoice_period: z.string(),
  updated_at: z.string(),
})

export const billing = {
  balance: get('/v2/customers/my/balance', { returns: Balance }),
  history: get('/v2/customers/my/billing_history', {
    query: Page,
    returns: listOf('billing_history', BillingEntry),
  }),
  invoices: get('/v2/customers/my/invoices', {
    query: Page,
    returns: listOf('invoices', Invoice).extend({ invoice_preview: Invoice }),
  }),
}
