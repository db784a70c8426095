import { int, pageOf, paging } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { actions } from './contract.ts'

export const actionTools = {
  'action-get': call(actions.get, {
    title: 'Get action',
    about: 'Get an action: an operation that was asked for, and its status.',
    args: { ID: int('Action number', 1) },
    request: (a) => ({ path: { id: a.ID } }),
  }),

  'action-list': call(actions.list, {
    title: 'List actions',
    about: 'List actions, newest first.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
