import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'

const { get, put } = resource('database')

export const ruleTypes = ['droplet', 'k8s', 'ip_addr', 'tag', 'app'] as const

/** At most this many trusted sources a cluster, as the public API has it. */
export const maxRules = 100

export const TrustedSource = z.looseObject({
  uuid: z.string(),
  cluster_uuid: z.string(),
  type: z.enum(ruleTypes),
  value: z.string(),
  description: z.string().optional(),
  created_at: Timestamp.optional(),
})
export type TrustedSource = z.output<typeof TrustedSource>

/** Some clients send an empty uuid and a zero time where they mean "not given". */
export const NewTrustedSource = z.looseObject({
  uuid: absentWhenEmpty(Uuid),
  cluster_uuid: absentWhenEmpty(Uuid),
  type: z.enum(ruleTypes),
  value: z.string().min(1),
  description: absentWhenEmpty(z.string().max(255)),
})
export type NewTrustedSource = z.output<typeof NewTrustedSource>

export const databaseFirewall = {
  get: get('/v2/databases/:id/firewall', {
    returns: z.object({ rules: z.array(TrustedSource) }),
  }),
  update: put('/v2/databases/:id/firewall', {
    body: z.looseObject({ rules: z.array(NewTrustedSource).max(maxRules).nullish() }),
  }),
}
