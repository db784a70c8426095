import { ApiError } from '#core/error.ts'
import { choice, int, pageOf, paging, text } from '#mcp/args.ts'
import { script } from '#mcp/tool.ts'
import { reservedIps, reservedIpv6s } from './contract.ts'

const IP = text('Reserved address')
const Type = choice('Address family', ['ipv4', 'ipv6'])
type Family = 'ipv4' | 'ipv6'

const familyOf = (ip: string): Family => (ip.includes(':') ? 'ipv6' : 'ipv4')

const agree = (a: { IP: string; Type: Family }): void => {
  if (familyOf(a.IP) === a.Type) return
  throw ApiError.invalid(`IP ${a.IP} is not an ${a.Type} address, which Type says it is.`)
}

const actOf = (type: Family) => (type === 'ipv6' ? reservedIpv6s.act : reservedIps.act)

export const reservedIpTools = {
  'reserved-ip-reserve': script({
    title: 'Reserve IP',
    about: 'Reserve a public address in a region.',
    effect: 'create',
    uses: [reservedIps.create, reservedIpv6s.create],
    args: { Region: text('Slug, such as nyc3'), Type },
    run: async (a, { api }) =>
      a.Type === 'ipv6'
        ? api(reservedIpv6s.create, { body: { region_slug: a.Region } })
        : api(reservedIps.create, { body: { region: a.Region } }),
  }),
  'reserved-ip-release': script({
    title: 'Release reserved IP',
    about: 'Give a reserved address back.',
    effect: 'delete',
    uses: [reservedIps.delete, reservedIpv6s.delete],
    args: { IP, Type },
    run: async (a, { api }) => {
      agree(a)
      const operation = a.Type === 'ipv6' ? reservedIpv6s.delete : reservedIps.delete
      await api(operation, { path: { ip: a.IP } })
      return { status: 'deleted', ip: a.IP }
    },
  }),
  'reserved-ip-assign': script({
    title: 'Assign reserved IP',
    about: 'Assign a reserved address to an instance.',
    effect: 'change',
    uses: [reservedIps.act, reservedIpv6s.act],
    args: { IP, InstanceID: int('Instance number', 1), Type },
    run: async (a, { api }) => {
      agree(a)
      const body = { type: 'assign' as const, droplet_id: a.InstanceID }
      return api(actOf(a.Type), { path: { ip: a.IP }, body })
    },
  }),
  'reserved-ip-unassign': script({
    title: 'Unassign reserved IP',
    about: 'Take a reserved address from its instance.',
    effect: 'change',
    uses: [reservedIps.act, reservedIpv6s.act],
    args: { IP, Type },
    run: async (a, { api }) => {
      agree(a)
      return api(actOf(a.Type), { path: { ip: a.IP }, body: { type: 'unassign' } })
    },
  }),
  'reserved-ip-list': script({
    title: 'List reserved IPs',
    about: 'List the reserved addresses of one family.',
    effect: 'read',
    uses: [reservedIps.list, reservedIpv6s.list],
    args: { Type, ...paging(20) },
    run: async (a, { api }) =>
      a.Type === 'ipv6'
        ? api(reservedIpv6s.list, { query: pageOf(a) })
        : api(reservedIps.list, { query: pageOf(a) }),
  }),
  'reserved-ip-get': script({
    title: 'Get reserved IP',
    about: 'Get a reserved address of either family.',
    effect: 'read',
    uses: [reservedIps.get, reservedIpv6s.get],
    args: { IP },
    run: async (a, { api }) =>
      familyOf(a.IP) === 'ipv6'
        ? api(reservedIpv6s.get, { path: { ip: a.IP } })
        : api(reservedIps.get, { path: { ip: a.IP } }),
  }),
}
