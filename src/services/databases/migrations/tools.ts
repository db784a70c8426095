import { z } from 'zod'
import { commaList, flag, object, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { id } from '../args.ts'
import { migrations } from './contract.ts'

export const migrationTools = {
  'db-cluster-start-online-migration': call(migrations.start, {
    title: 'Start online migration',
    about: 'Copy a live database into a cluster and follow its changes until stopped.',
    args: {
      id,
      source: object('Server to copy from', {
        host: z.string().min(1),
        port: z.int().min(1).max(65_535),
        dbname: z.string().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
      }),
      disable_ssl: flag('Connect without TLS').optional(),
      ignore_dbs: commaList('Databases to leave out, comma-separated').optional(),
    },
    effect: 'create',
    request: (a) => ({
      path: { id: a.id },
      body: {
        source: a.source,
        ...(a.disable_ssl === undefined ? {} : { disable_ssl: a.disable_ssl }),
        ...(a.ignore_dbs === undefined ? {} : { ignore_dbs: a.ignore_dbs }),
      },
    }),
  }),

  'db-cluster-stop-online-migration': call(migrations.stop, {
    title: 'Stop online migration',
    about: 'Stop a migration; what was copied stays.',
    args: { id, migration_id: text('From db-cluster-get-migration') },
    effect: 'create',
    request: (a) => ({ path: { id: a.id, migration: a.migration_id } }),
    result: (_, a) => ({ status: 'canceled', id: a.id, migration_id: a.migration_id }),
  }),

  'db-cluster-get-migration': call(migrations.get, {
    title: 'Get online migration',
    about: 'Get the status of the latest online migration.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),
}
