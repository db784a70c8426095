import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

const { get, post, del } = resource('token')

export const TokenFacts = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
})

export const tokens = {
  list: get('/v2/cove/tokens', { query: Page, returns: listOf('tokens', TokenFacts), ours: true }),
  create: post('/v2/cove/tokens', {
    body: z.object({
      name: z.string().trim().min(1).max(100),
      scopes: z.array(z.string().min(1)).min(1),
      expires_in_seconds: z.number().int().min(1).optional(),
    }),
    /** The secret is in this answer and nowhere else. */
    returns: one('token', TokenFacts.extend({ secret: z.string() })),
    ours: true,
  }),
  revoke: del('/v2/cove/tokens/:id', { ours: true }),
}
