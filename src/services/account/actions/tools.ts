import { int, pageOf, paging } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { actions } from './contract.ts'

export const actionTools = {
  'action-get': call(actions.get, {
    title: 'Get action',
    about: 'Get one action of the account: an operation that was asked for, and how it stands.',
    args: { ID: int('Number of the action, for example 36804636', 1) },
    request: (a) => ({ path: { id: a.ID } }),
  }),

  'action-list': call(actions.list, {
    title: 'List actions',
    about: 'List the actions of the account, newest first.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
