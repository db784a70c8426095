import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'
import { Action } from '../../account/actions/contract.ts'
import { Region, RegionSlug } from '../../compute/regions/contract.ts'

/** The instance an address is assigned to, as the instances' own API answers it. */
const Assigned = z.looseObject({ id: z.number().int() }).nullable()

export const ReservedIp = z.object({
  ip: z.ipv4(),
  region: Region,
  droplet: Assigned,
  locked: z.boolean(),
  project_id: Uuid,
})

export const ReservedIpv6 = z.object({
  ip: z.ipv6(),
  region_slug: z.string(),
  reserved_at: Timestamp,
  droplet: Assigned.optional(),
})

const NewReservedIp = z
  .object({
    region: absentWhenEmpty(RegionSlug),
    droplet_id: z.number().int().nullish(),
    project_id: absentWhenEmpty(Uuid),
  })
  .refine((body) => Boolean(body.region) !== Boolean(body.droplet_id), {
    path: ['region'],
    message: 'or droplet_id is required, and not both',
  })

const AddressAction = z
  .object({ type: z.enum(['assign', 'unassign']), droplet_id: z.number().int().nullish() })
  .refine((body) => body.type === 'unassign' || Boolean(body.droplet_id), {
    path: ['droplet_id'],
    message: 'is required to assign',
  })

/** What the assignment of an address came to; the account's actions show the same. */
export const AssignmentAction = Action.extend({ project_id: Uuid.optional() })

const Started = z.array(z.object({ id: z.number().int(), rel: z.string(), href: z.string() }))

const address = resource('reserved_ip')
const act = {
  body: AddressAction,
  returns: one('action', AssignmentAction),
  status: 201,
  act: 'update',
}

export const reservedIps = {
  list: address.get('/v2/reserved_ips', {
    query: Page,
    returns: listOf('reserved_ips', ReservedIp),
  }),
  create: address.post('/v2/reserved_ips', {
    body: NewReservedIp,
    returns: one('reserved_ip', ReservedIp).extend({
      links: z.object({ droplets: Started.optional(), actions: Started.optional() }).optional(),
    }),
    status: 202,
  }),
  get: address.get('/v2/reserved_ips/:ip', { returns: one('reserved_ip', ReservedIp) }),
  delete: address.del('/v2/reserved_ips/:ip'),
  act: address.post('/v2/reserved_ips/:ip/actions', act),
  actions: address.get('/v2/reserved_ips/:ip/actions', {
    query: Page,
    returns: listOf('actions', AssignmentAction),
  }),
  action: address.get('/v2/reserved_ips/:ip/actions/:action', {
    returns: one('action', AssignmentAction),
  }),
}

export const reservedIpv6s = {
  list: address.get('/v2/reserved_ipv6', {
    query: Page,
    returns: listOf('reserved_ipv6s', ReservedIpv6),
  }),
  create: address.post('/v2/reserved_ipv6', {
    body: z.object({ region_slug: RegionSlug }),
    returns: one('reserved_ipv6', ReservedIpv6),
  }),
  get: address.get('/v2/reserved_ipv6/:ip', { returns: one('reserved_ipv6', ReservedIpv6) }),
  delete: address.del('/v2/reserved_ipv6/:ip'),
  act: address.post('/v2/reserved_ipv6/:ip/actions', act),
}
