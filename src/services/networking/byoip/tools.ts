import { pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { byoipPrefixes } from './contract.ts'

const UUID = text('UUID of the prefix, as byoip-prefix-list shows it')

export const byoipTools = {
  'byoip-prefix-create': call(byoipPrefixes.create, {
    title: 'Create BYOIP prefix',
    about: 'Bring an IPv4 prefix of your own into a region.',
    args: {
      Prefix: text('IPv4 network between /18 and /24, for example 203.0.113.0/24'),
      Signature: text('Signature that proves the right to the prefix'),
      Region: text('Region slug, for example nyc3'),
    },
    request: (a) => ({ body: { prefix: a.Prefix, signature: a.Signature, region: a.Region } }),
  }),
  'byoip-prefix-delete': call(byoipPrefixes.delete, {
    title: 'Delete BYOIP prefix',
    about: 'Delete a prefix none of whose addresses is in use.',
    args: { UUID },
    request: (a) => ({ path: { uuid: a.UUID } }),
  }),
  'byoip-prefix-get': call(byoipPrefixes.get, {
    title: 'Get BYOIP prefix',
    about: 'Get a prefix with its validations.',
    args: { UUID },
    request: (a) => ({ path: { uuid: a.UUID } }),
  }),
  'byoip-prefix-list': call(byoipPrefixes.list, {
    title: 'List BYOIP prefixes',
    about: 'List the prefixes of the account.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
  'byoip-prefix-resources-get': call(byoipPrefixes.resources, {
    title: 'Get BYOIP prefix resources',
    about: 'List the addresses of a prefix that are in use.',
    args: { UUID, ...paging(20) },
    request: (a) => ({ path: { uuid: a.UUID }, query: pageOf(a) }),
  }),
}
