import { ApiError } from '#core/error.ts'
import { pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { vpcPeerings } from './contract.ts'

const ID = text('Peering id')

export const vpcPeeringTools = {
  'vpc-peering-create': call(vpcPeerings.create, {
    title: 'Create VPC peering',
    about: 'Join two VPCs so that their members reach each other.',
    args: {
      Name: text('Unique name, such as blue-green'),
      Vpc1: text('VPC id'),
      Vpc2: text('VPC id'),
    },
    request: (a) => {
      if (a.Vpc1 === a.Vpc2) throw ApiError.invalid('Vpc1 and Vpc2 must be two different VPCs.')
      return { body: { name: a.Name, vpc_ids: [a.Vpc1, a.Vpc2] } }
    },
  }),
  'vpc-peering-delete': call(vpcPeerings.delete, {
    title: 'Delete VPC peering',
    about: 'Separate two joined VPCs.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'vpc-peering-get': call(vpcPeerings.get, {
    title: 'Get VPC peering',
    about: 'Get a VPC peering with its status.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'vpc-peering-list': call(vpcPeerings.list, {
    title: 'List VPC peerings',
    about: 'List the VPC peerings.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
