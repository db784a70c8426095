import { z } from 'zod'
import { resource } from '#core/operation.ts'

export const ServiceStanding = z.object({
  name: z.string(),
  state: z.enum(['running', 'starting', 'off', 'failed']),
  enforced: z.boolean(),
  reason: z.string().optional(),
  fix: z.string().optional(),
})
export type ServiceStanding = z.infer<typeof ServiceStanding>

export const Status = z.object({
  url: z.string(),
  pid: z.number().int(),
  home: z.string(),
  version: z.string(),
  dns: z.object({ host: z.string(), port: z.number().int() }).nullable(),
  services: z.array(ServiceStanding),
  /** Operations that tools use and this Cove does not serve. */
  unserved: z.array(z.string()),
})
export type Status = z.infer<typeof Status>

export const status = {
  get: resource('account').get('/v2/cove/status', { returns: Status, ours: true }),
}
