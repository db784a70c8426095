import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'
import { RegionSlug } from '../../compute/regions/contract.ts'

export const ByoipPrefix = z.object({
  uuid: z.string(),
  name: z.string(),
  prefix: z.string(),
  status: z.string(),
  region: z.string(),
  validations: z.array(z.object({ name: z.string(), status: z.string(), note: z.string() })),
  failure_reason: z.string(),
  locked: z.boolean(),
  advertised: z.boolean(),
  project_id: z.string(),
})
export type ByoipPrefix = z.output<typeof ByoipPrefix>

/** An address of the prefix that is in use. */
export const ByoipResource = z.object({
  id: z.number().int(),
  byoip: z.string(),
  region: z.string(),
  resource: z.string(),
  assigned_at: Timestamp,
})

export const NewByoipPrefix = z.object({
  prefix: z
    .cidrv4()
    .refine(isAnnounceable, 'must be an IPv4 network between /18 and /24, such as 203.0.113.0/24'),
  region: RegionSlug,
  signature: z.string().min(1),
})

const byoip = resource('byoip_prefix')

export const byoipPrefixes = {
  list: byoip.get('/v2/byoip_prefixes', {
    query: Page,
    returns: listOf('byoip_prefixes', ByoipPrefix),
  }),
  create: byoip.post('/v2/byoip_prefixes', {
    body: NewByoipPrefix,
    returns: z.object({ uuid: z.string(), region: z.string(), status: z.string() }),
    status: 202,
  }),
  get: byoip.get('/v2/byoip_prefixes/:uuid', { returns: one('byoip_prefix', ByoipPrefix) }),
  advertise: byoip.patch('/v2/byoip_prefixes/:uuid', {
    body: z.object({ advertise: z.boolean().optional() }),
    returns: one('byoip_prefix', ByoipPrefix),
    status: 202,
    act: 'write',
  }),
  delete: byoip.del('/v2/byoip_prefixes/:uuid', { status: 202 }),
  resources: byoip.get('/v2/byoip_prefixes/:uuid/ips', {
    query: Page,
    returns: listOf('ips', ByoipResource),
  }),
}

/** Networks that are announced on the internet: /24 to /18, written with their first address. */
function isAnnounceable(cidr: string): boolean {
  const [address = '', length = ''] = cidr.split('/')
  const bits = Number(length)
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  return bits >= 18 && bits <= 24 && number % 2 ** (32 - bits) === 0
}
