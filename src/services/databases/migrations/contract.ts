import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { Timestamp } from '#core/schema.ts'

const { get, put, del } = resource('database')

export const MigrationSource = z.looseObject({
  host: z.string().min(1),
  port: z.int().min(1).max(65535),
  dbname: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
})
export type MigrationSource = z.output<typeof MigrationSource>

export const OnlineMigration = z.looseObject({
  id: z.string(),
  status: z.enum(['running', 'syncing', 'canceled', 'error', 'done']),
  created_at: Timestamp,
})
export type OnlineMigration = z.output<typeof OnlineMigration>

export const migrations = {
  get: get('/v2/databases/:id/online-migration', { returns: OnlineMigration }),
  start: put('/v2/databases/:id/online-migration', {
    body: z.looseObject({
      source: MigrationSource,
      disable_ssl: z.boolean().optional(),
      ignore_dbs: z.array(z.string()).nullish(),
    }),
    returns: OnlineMigration,
  }),
  stop: del('/v2/databases/:id/online-migration/:migration'),
}
