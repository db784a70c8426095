import type { ResultOf } from '#core/operation.ts'
import { pageOf, paging, text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { vpcs } from './contract.ts'

const ID = text('VPC id')

export const vpcTools = {
  'vpc-create': call(vpcs.create, {
    title: 'Create VPC',
    about: 'Create a private network in a region.',
    args: {
      Name: text('Unique name, such as backend'),
      Region: text('Slug, such as nyc3'),
      Subnet: text('Private range, such as 10.10.0.0/20; chosen when left out').optional(),
      Description: text('At most 255 characters').optional(),
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
  'vpc-list-members': script({
    title: 'List VPC members',
    about: 'List the resources in a VPC.',
    args: { ID },
    effect: 'read',
    uses: [vpcs.members],
    returns: vpcs.members.returns,
    // The API pages, and the tool has no argument for it.
    run: async (a, { api }) => {
      const members: ResultOf<typeof vpcs.members>['members'] = []
      for (let page = 1; ; page++) {
        const query = { page, per_page: 200 }
        const answer = await api(vpcs.members, { path: { id: a.ID }, query })
        members.push(...answer.members)
        const whole = members.length >= (answer.meta?.total ?? 0)
        if (whole || answer.members.length === 0) return { ...answer, members, links: {} }
      }
    },
  }),
  'vpc-delete': call(vpcs.delete, {
    title: 'Delete VPC',
    about: "Delete an empty VPC that is not its region's default.",
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
    about: 'List the private networks.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
