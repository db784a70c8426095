import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { Timestamp } from '#core/schema.ts'

/** A link that signs one browser in, once. */
export const consoleLinks = {
  create: resource('token').post('/v2/cove/console_links', {
    returns: z.object({ url: z.string(), expires_at: Timestamp }),
    ours: true,
  }),
}
