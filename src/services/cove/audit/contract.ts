import { z } from 'zod'
import { resource } from '#core/operation.ts'

export const AuditEntry = z.object({
  time: z.string(),
  who: z.string(),
  tool: z.string(),
  arguments: z.unknown(),
  outcome: z.enum(['ok', 'error', 'refused']),
  message: z.string().optional(),
  duration_ms: z.number(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** Where, below COVE_HOME, tool servers write one call a line. */
export const auditFile = 'audit/calls.jsonl'

export const audit = {
  /** The newest calls, oldest of them first. */
  list: resource('account').get('/v2/cove/audit', {
    query: z.object({
      limit: z.coerce.number<number | string>().int().min(1).max(1000).default(100),
      tool: z.string().optional(),
    }),
    returns: z.object({ calls: z.array(AuditEntry) }),
    ours: true,
  }),
}
