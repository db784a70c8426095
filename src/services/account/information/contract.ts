import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { one } from '#core/page.ts'

export const Account = z.object({
  uuid: z.string(),
  name: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  status: z.enum(['active', 'warning', 'locked']),
  status_message: z.string(),
  droplet_limit: z.number().int(),
  floating_ip_limit: z.number().int(),
  team: z.object({ uuid: z.string(), name: z.string() }),
})

export const account = {
  get: resource('account').get('/v2/account', { returns: one('account', Account) }),
}
