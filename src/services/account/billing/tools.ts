import { pageOf, paging } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { billing } from './contract.ts'

export const billingTools = {
  'balance-get': call(billing.balance, {
    title: 'Get balance',
    about: 'Get the balance and the cost of this month so far, in US dollars.',
    args: {},
    request: () => ({}),
  }),

  'billing-history-list': call(billing.history, {
    title: 'List billing history',
    about: 'List invoices, payments and other entries, newest first.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),

  'invoice-list': call(billing.invoices, {
    title: 'List invoices',
    about: 'List invoices, newest first, with a preview of this month.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
