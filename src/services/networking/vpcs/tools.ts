import { pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { vpcs } from './contract.ts'

const ID = text('VPC id, as vpc-list shows it')

export const vpcTools = {
  'vpc-create': call(vpcs.create, {
    title: 'Create VPC',
    about: 'Create a private network in a region.',
    args: {
      Name: text('Name, unique in the account, for example backend'),
      Region: text('Region slug, for example nyc3'),
      Subnet: text(
        'Private IPv4 range, for example 10.10.0.0/20; generated when left out',
      ).optional(),
      Description: text('Up to 255 characters for people to read').optional(),
    },
    request: (a) => ({
      body: {
        name: a.Name,
        region: a.Region,
        ...(a.Subnet && { ip_range: a.Subnet }),
        ...(a.Description && { description: a.Description }),
      },
    }),
  }),
  'vpc-list-members': call(vpcs.members, {
    title: 'List VPC members',
    about: 'List the resources in a VPC.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'vpc-delete': call(vpcs.delete, {
    title: 'Delete VPC',
    about: 'Delete a VPC that is empty and not the default of its region.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'vpc-get': call(vpcs.get, {
    title: 'Get VPC',
    about: 'Get a VPC with its range.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'vpc-list': call(vpcs.list, {
    title: 'List VPCs',
    about: 'List the VPCs of the account.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
