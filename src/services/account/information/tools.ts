import { call } from '#mcp/tool.ts'
import { account } from './contract.ts'

export const informationTools = {
  'account-get-information': call(account.get, {
    title: 'Get account',
    about: 'Get the name, e-mail address, status and limits of the account.',
    args: {},
    request: () => ({}),
  }),
}
