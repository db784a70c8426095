import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'

const { get, post, del } = resource('tag')

export const TagName = z
  .string()
  .regex(/^[\p{L}\p{N}_\-:]{1,255}$/u, 'must be 1 to 255 letters, digits, "_", "-" or ":"')

const Tagged = z.looseObject({ count: z.number().int(), last_tagged_uri: z.string().optional() })

export const Tag = z.object({
  name: z.string(),
  resources: Tagged.extend({ droplets: Tagged, databases: Tagged }),
})

const Resources = z.object({
  resources: z
    .array(
      z.object({
        resource_id: z.coerce.string<string | number>(),
        resource_type: z.enum(['droplet', 'database']),
      }),
    )
    .min(1),
})

export const tags = {
  list: get('/v2/tags', { query: Page, returns: listOf('tags', Tag) }),
  create: post('/v2/tags', { body: z.object({ name: TagName }), returns: one('tag', Tag) }),
  get: get('/v2/tags/:name', { returns: one('tag', Tag) }),
  delete: del('/v2/tags/:name'),
  assign: post('/v2/tags/:name/resources', { body: Resources }),
  unassign: del('/v2/tags/:name/resources', { body: Resources }),
}

/** A tag exists by its name; what carries it says so in its own record. */
export const tagNames = collection<{ name: string }>('tags', { called: 'Tag', key: 'name' })

/** One resource carrying one tag: how tags find what they stand for. */
export interface Tagging {
  key: string
  tag: string
  resource_type: 'droplet' | 'database'
  resource_id: string
}

export const taggings = collection<Tagging>('taggings', {
  called: 'Tagging',
  key: 'key',
  indexes: ['tag', 'resource_id', 'resource_type'],
})
