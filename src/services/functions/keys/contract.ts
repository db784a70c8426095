import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

const { get, post, put, del } = resource('function')

/** Keys with this beginning belong to the tool server. */
export const ownKeyPrefix = 'mcp-svc-'

export const AccessKey = z.object({
  id: z.string(),
  name: z.string(),
  expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type AccessKey = z.infer<typeof AccessKey>

/** The secret is told once, at creation. */
const NewAccessKey = AccessKey.extend({ secret: z.string() })

/** `<n>h` or `<n>d`, at least one hour. */
export const ExpiresIn = z
  .string()
  .regex(/^0*[1-9]\d{0,4}[hd]$/, 'must be a number of hours or days such as 24h or 7d, at least 1h')

const Name = z.string().trim().min(1).max(255)

export const accessKeys = {
  list: get('/v2/functions/namespaces/:namespace_id/keys', {
    returns: z.object({ access_keys: z.array(AccessKey), count: z.number().int() }),
    act: 'admin',
  }),
  create: post('/v2/functions/namespaces/:namespace_id/keys', {
    body: z.object({ name: Name, expires_in: ExpiresIn.optional() }),
    returns: one('access_key', NewAccessKey),
    act: 'admin',
    invalid: 400,
  }),
  rename: put('/v2/functions/namespaces/:namespace_id/keys/:key_id', {
    body: z.object({ name: Name }),
    returns: one('access_key', AccessKey),
    act: 'admin',
    invalid: 400,
  }),
  delete: del('/v2/functions/namespaces/:namespace_id/keys/:key_id', {
    returns: z.object({}),
    act: 'admin',
  }),
}
