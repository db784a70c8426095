import { z } from 'zod'
import { resource } from '#core/operation.ts'

const Use = z.object({ used: z.number(), total: z.number() })

/** What the machine under this Cove has left. */
export const Machine = z.object({
  /** Processors, and how many of them are busy on average over a minute. */
  cpu: Use,
  /** Bytes. */
  memory: Use,
  /** Bytes of the file system that holds COVE_HOME. */
  disk: Use,
  /** Resident bytes of this process. */
  resident: z.number(),
  uptime_seconds: z.number(),
})

export const machine = {
  get: resource('account').get('/v2/cove/machine', { returns: Machine, ours: true }),
}
