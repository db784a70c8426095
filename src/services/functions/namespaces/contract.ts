import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'
import { RegionSlug } from '../../compute/regions/contract.ts'

const { get, post, del } = resource('function')

export const Namespace = z.object({
  /** `fn-<uuid>`: how every other call names it. */
  namespace: z.string(),
  uuid: z.string(),
  label: z.string(),
  region: z.string(),
  /** Where its actions are called: scheme, host and port. */
  api_host: z.string(),
  /** With the uuid, the first credential of its data plane. Not in lists. */
  key: z.string().optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Namespace = z.infer<typeof Namespace>

export const namespaces = {
  list: get('/v2/functions/namespaces', {
    returns: z.object({ namespaces: z.array(Namespace) }),
  }),
  create: post('/v2/functions/namespaces', {
    body: z.object({
      label: z.string().trim().min(1).max(255),
      region: RegionSlug,
      /** Both ours: a namespace of a cluster elsewhere, and its credentials. */
      api_host: z.url({ protocol: /^https?$/ }).optional(),
      key: z
        .string()
        .regex(/^[^:\s]+:[^:\s]+$/, 'must be <user>:<password>')
        .optional(),
    }),
    returns: one('namespace', Namespace),
    status: 200,
  }),
  /** Shows the key, so reading is not enough. */
  get: get('/v2/functions/namespaces/:namespace_id', {
    returns: one('namespace', Namespace),
    act: 'admin',
  }),
  delete: del('/v2/functions/namespaces/:namespace_id'),
}
