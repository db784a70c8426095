import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp } from '#core/schema.ts'
import { Region, RegionSlug } from '../regions/contract.ts'
import { Size } from '../sizes/contract.ts'
import { TagName } from '../tags/contract.ts'

const { get, post, del } = resource('droplet')

const NetworkV4 = z.object({
  ip_address: z.ipv4(),
  netmask: z.string(),
  gateway: z.string(),
  type: z.enum(['public', 'private']),
})

const NetworkV6 = z.object({
  ip_address: z.ipv6(),
  netmask: z.number().int(),
  gateway: z.string(),
  type: z.literal('public'),
})

export const Droplet = z.object({
  id: z.number().int(),
  name: z.string(),
  memory: z.number().int(),
  vcpus: z.number().int(),
  disk: z.number().int(),
  locked: z.boolean(),
  status: z.enum(['new', 'active', 'off', 'archive']),
  created_at: Timestamp,
  features: z.array(z.string()),
  backup_ids: z.array(z.number().int()),
  next_backup_window: z.null(),
  snapshot_ids: z.array(z.number().int()),
  image: z.looseObject({}),
  volume_ids: z.array(z.string()),
  size: Size,
  size_slug: z.string(),
  networks: z.object({ v4: z.array(NetworkV4), v6: z.array(NetworkV6) }),
  region: Region,
  tags: z.array(z.string()),
  vpc_uuid: z.string().optional(),
})

const HostName = z
  .string()
  .regex(
    /^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,253}[a-zA-Z0-9])?$/,
    'must be a host name, for example web-1',
  )

const NewDroplet = z.object({
  name: HostName,
  region: RegionSlug.default('nyc3'),
  size: z.string().default('s-1vcpu-1gb'),
  image: absentWhenEmpty(z.union([z.string(), z.number()])),
  /** Registers a host that exists elsewhere, instead of making one. */
  ip_address: absentWhenEmpty(z.union([z.ipv4(), z.ipv6()])),
  tags: z.array(TagName).nullish(),
  vpc_uuid: absentWhenEmpty(z.string()),
  ipv6: z.boolean().nullish(),
})

/** Where the caller can watch what it asked for. */
const ActionLinks = z.object({
  actions: z.array(z.object({ id: z.number().int(), rel: z.string(), href: z.string() })),
})

export const droplets = {
  list: get('/v2/droplets', {
    query: Page.extend({ tag_name: z.string().optional(), name: z.string().optional() }),
    returns: listOf('droplets', Droplet),
  }),
  create: post('/v2/droplets', {
    body: NewDroplet,
    returns: one('droplet', Droplet).extend({ links: ActionLinks }),
    status: 202,
  }),
  get: get('/v2/droplets/:id', { returns: one('droplet', Droplet) }),
  delete: del('/v2/droplets/:id'),
  /** How a program on this machine gets into an instance's network. */
  entry: get('/v2/droplets/:id/entry', {
    returns: z.object({ command: z.array(z.string()) }),
    act: 'update',
    ours: true,
  }),
  deleteByTag: del('/v2/droplets', { query: z.object({ tag_name: z.string().min(1) }) }),
}

/** An instance as it is kept. */
export interface DropletRecord {
  id: number
  name: string
  region: string
  size: string
  status: 'new' | 'active' | 'off' | 'archive'
  created_at: string
  /** Address of a registered host. */
  ip_address: string | null
  vpc_uuid: string | null
  /** Addresses of an instance that we make; a registered host has none. */
  private_ip?: string | null
  public_ip?: string | null
  public_ipv6?: string | null
  /** The action that ends when the instance is up. */
  action_id?: number | null
}

export const dropletRecords = collection<DropletRecord>('droplets', {
  called: 'Droplet',
  key: 'id',
  indexes: ['name', 'vpc_uuid', 'public_ip'],
  reconciled: true,
})
