import { pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { byoipPrefixes } from './contract.ts'

const UUID = text('Prefix UUID')

export const byoipTools = {
  'byoip-prefix-create': call(byoipPrefixes.create, {
    title: 'Create BYOIP prefix',
    about: 'Bring your own IPv4 prefix into a region.',
    args: {
      Prefix: text('/18 to /24, such as 203.0.113.0/24'),
      Signature: text('Proof of the right to it'),
      Region: text('Slug, such as nyc3'),
    },
    request: (a) => ({ body: { prefix: a.Prefix, signature: a.Signature, region: a.Region } }),
  }),
  'byoip-prefix-delete': call(byoipPrefixes.delete, {
    title: 'Delete BYOIP prefix',
    about: 'Delete a prefix of which no address is in use.',
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
    about: 'List your own IPv4 prefixes.',
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
