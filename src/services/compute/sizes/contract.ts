import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, Page } from '#core/page.ts'

export const Size = z.object({
  slug: z.string(),
  description: z.string(),
  memory: z.number().int(),
  vcpus: z.number().int(),
  disk: z.number().int(),
  transfer: z.number(),
  price_monthly: z.number(),
  price_hourly: z.number(),
  regions: z.array(z.string()),
  available: z.boolean(),
})

export const sizes = {
  list: resource('sizes').get('/v2/sizes', { query: Page, returns: listOf('sizes', Size) }),
}
