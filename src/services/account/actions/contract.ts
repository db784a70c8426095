import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'
import { Region } from '../../compute/regions/contract.ts'

const { get } = resource('actions')

export const Action = z.object({
  id: z.number().int(),
  status: z.enum(['in-progress', 'completed', 'errored']),
  type: z.string(),
  started_at: Timestamp,
  completed_at: Timestamp.nullable(),
  resource_id: z.number().int().nullable(),
  resource_type: z.string(),
  region: Region.optional(),
  region_slug: z.string().nullable(),
})

export const actions = {
  list: get('/v2/actions', { query: Page, returns: listOf('actions', Action) }),
  get: get('/v2/actions/:id', { returns: one('action', Action) }),
}
