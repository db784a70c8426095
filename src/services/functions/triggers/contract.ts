import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

const { get, post, put, del } = resource('function')

const Body = z.record(z.string(), z.unknown())

export const Trigger = z.object({
  namespace: z.string(),
  name: z.string(),
  function: z.string(),
  type: z.string(),
  is_enabled: z.boolean(),
  scheduled_details: z.object({ cron: z.string(), body: Body.nullable() }),
  scheduled_runs: z.object({
    last_run_at: Timestamp.nullable(),
    next_run_at: Timestamp.nullable(),
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Trigger = z.infer<typeof Trigger>

const Details = z.object({ cron: z.string(), body: Body.nullish() })

export const triggers = {
  list: get('/v2/functions/namespaces/:namespace_id/triggers', {
    returns: z.object({ triggers: z.array(Trigger) }),
  }),
  get: get('/v2/functions/namespaces/:namespace_id/triggers/:trigger_name', {
    returns: one('trigger', Trigger),
  }),
  create: post('/v2/functions/namespaces/:namespace_id/triggers', {
    body: z.object({
      name: z
        .string()
        .regex(/^\w[\w@ .&-]{0,254}$/, 'must be a name of letters, digits and any of _ . - @ &'),
      function: z.string().min(1),
      type: z.string(),
      is_enabled: z.boolean(),
      scheduled_details: Details,
    }),
    returns: one('trigger', Trigger),
    status: 200,
    invalid: 400,
  }),
  update: put('/v2/functions/namespaces/:namespace_id/triggers/:trigger_name', {
    body: z.object({
      is_enabled: z.boolean().optional(),
      scheduled_details: Details.optional(),
    }),
    returns: one('trigger', Trigger),
    invalid: 400,
  }),
  delete: del('/v2/functions/namespaces/:namespace_id/triggers/:trigger_name'),
}
