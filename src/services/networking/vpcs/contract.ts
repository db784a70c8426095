import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'
import { RegionSlug } from '../../compute/regions/contract.ts'

export const Vpc = z.object({
  id: Uuid,
  urn: z.string(),
  name: z.string(),
  description: z.string(),
  region: z.string(),
  ip_range: z.string(),
  default: z.boolean(),
  created_at: Timestamp,
})
export type Vpc = z.output<typeof Vpc>

export const VpcMember = z.object({ name: z.string(), urn: z.string(), created_at: z.string() })

const VpcName = z
  .string()
  .max(255)
  .regex(/^[a-zA-Z0-9.-]+$/, 'must be letters, digits, . and -, such as backend-1')
const Description = absentWhenEmpty(z.string().max(255))

export const NewVpc = z.object({
  name: VpcName,
  region: RegionSlug,
  ip_range: absentWhenEmpty(
    z
      .cidrv4()
      .refine(
        isPrivateNetwork,
        'must be a private IPv4 network between /16 and /28, such as 10.10.0.0/20',
      ),
  ),
  description: Description,
})

const settings = { description: Description, default: z.boolean().optional() }

const vpc = resource('vpc')

export const vpcs = {
  list: vpc.get('/v2/vpcs', { query: Page, returns: listOf('vpcs', Vpc) }),
  create: vpc.post('/v2/vpcs', { body: NewVpc, returns: one('vpc', Vpc) }),
  get: vpc.get('/v2/vpcs/:id', { returns: one('vpc', Vpc) }),
  update: vpc.put('/v2/vpcs/:id', {
    body: z.object({ name: VpcName, ...settings }),
    returns: one('vpc', Vpc),
  }),
  patch: vpc.patch('/v2/vpcs/:id', {
    body: z.object({ name: absentWhenEmpty(VpcName), ...settings }),
    returns: one('vpc', Vpc),
  }),
  delete: vpc.del('/v2/vpcs/:id'),
  members: vpc.get('/v2/vpcs/:id/members', {
    query: Page.extend({ resource_type: absentWhenEmpty(z.string()) }),
    returns: listOf('members', VpcMember),
  }),
}

/** 10/8, 172.16/12 or 192.168/16, /16 to /28, written with its first address. */
function isPrivateNetwork(cidr: string): boolean {
  const [address = '', length = ''] = cidr.split('/')
  const bits = Number(length)
  const [a = 0, b = 0] = address.split('.').map(Number)
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const isPrivate = a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168)
  return isPrivate && bits >= 16 && bits <= 28 && number % 2 ** (32 - bits) === 0
}
