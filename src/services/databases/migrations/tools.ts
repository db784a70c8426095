import { commaList, flag, int, object, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { id } from '../args.ts'
import { migrations } from './contract.ts'

export const migrationTools = {
  'db-cluster-start-online-migration': call(migrations.start, {
    title: 'Start online migration',
    about: 'Copy a live database server into a cluster and follow its changes until stopped.',
    args: {
      id,
      source: object('The server to copy from', {
        host: text('Host name or address'),
        port: int('Port', 1, 65535),
        dbname: text('Database').optional(),
        username: text('User').optional(),
        password: text('Password').optional(),
      }),
      disable_ssl: flag('Connect to the source without TLS').optional(),
      ignore_dbs: commaList('Databases to leave out, separated by commas').optional(),
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
    about: 'Stop following the source of a migration; what was copied stays.',
    args: { id, migration_id: text('id of the migration, from db-cluster-get-migration') },
    effect: 'create',
    request: (a) => ({ path: { id: a.id, migration: a.migration_id } }),
    result: (_, a) => ({ status: 'canceled', id: a.id, migration_id: a.migration_id }),
  }),

  'db-cluster-get-migration': call(migrations.get, {
    title: 'Get online migration',
    about: 'Get the status of the latest online migration of a cluster.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),
}
