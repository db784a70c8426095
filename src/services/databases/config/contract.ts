import { z } from 'zod'
import { resource } from '#core/operation.ts'

const { get, put, patch } = resource('database')

const Settings = z.record(z.string(), z.unknown())

export const evictionPolicies = [
  'noeviction',
  'allkeys_lru',
  'allkeys_random',
  'volatile_lru',
  'volatile_random',
  'volatile_ttl',
] as const

const EvictionPolicy = z.looseObject({ eviction_policy: z.enum(evictionPolicies) })
const SqlMode = z.looseObject({ sql_mode: z.string() })

/** One path for every engine: the fields follow the cluster's engine (see fields.ts). */
export const databaseConfig = {
  get: get('/v2/databases/:id/config', { returns: z.object({ config: Settings }) }),
  update: patch('/v2/databases/:id/config', {
    body: z.looseObject({ config: Settings }),
    status: 200,
  }),
  getSqlMode: get('/v2/databases/:id/sql_mode', { returns: SqlMode }),
  setSqlMode: put('/v2/databases/:id/sql_mode', { body: SqlMode }),
  getEvictionPolicy: get('/v2/databases/:id/eviction_policy', { returns: EvictionPolicy }),
  setEvictionPolicy: put('/v2/databases/:id/eviction_policy', { body: EvictionPolicy }),
}
