import { pageOf, paging } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { billing } from './contract.ts'

export const billingTools = {
  'balance-get': call(billing.balance, {
    title: 'Get balance',
    about: 'Get the balance of the account and what this month has cost so far, in US dollars.',
    args: {},
    request: () => ({}),
  }),

  'billing-history-list': call(billing.history, {
    title: 'List billing history',
    about: 'List invoices, payments and other entries of the billing history, newest first.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),

  'invoice-list': call(billing.invoices, {
    title: 'List invoices',
    about: 'List the invoices of the account, newest first, with a preview of the current month.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
