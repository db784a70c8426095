import { ApiError } from '#core/error.ts'
import { commaList, int, text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { id, pageOf, paging } from '../args.ts'
import { clusters } from './contract.ts'

export const clusterTools = {
  'db-cluster-list': call(clusters.list, {
    title: 'List database clusters',
    about: 'List database clusters.',
    args: paging,
    request: (a) => ({ query: pageOf(a) }),
  }),

  'db-cluster-get': call(clusters.get, {
    title: 'Get database cluster',
    about: 'Get a cluster with its status and connection details.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-get-ca': call(clusters.ca, {
    title: 'Get CA certificate',
    about: 'Get the CA certificate for connections to a cluster, as base64 of PEM.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-create': call(clusters.create, {
    title: 'Create database cluster',
    about: 'Create a cluster from what db-cluster-list-options offers.',
    args: {
      name: text('Name, such as orders-db'),
      engine: text('pg, mysql, valkey, redis, mongodb, kafka or opensearch'),
      version: text('Engine version, such as 17'),
      region: text('Slug, such as nyc3'),
      size: text('Slug, such as db-s-1vcpu-1gb'),
      num_nodes: int('Number of nodes', 1),
      tags: commaList('Comma-separated').optional(),
    },
    request: ({ tags, engine, ...rest }) => ({
      body: {
        ...rest,
        engine: engine as 'pg',
        ...(tags && tags.length > 0 ? { tags } : {}),
      },
    }),
  }),

  'db-cluster-delete': call(clusters.delete, {
    title: 'Delete database cluster',
    about: 'Delete a cluster with its data and backups.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-resize': script({
    title: 'Resize database cluster',
    about: 'Change size, num_nodes or storage_size_mib of a cluster; give at least one.',
    args: {
      id,
      size: text('Size slug').optional(),
      num_nodes: int('Number of nodes', 1).optional(),
      storage_size_mib: int('Storage in MiB', 1).optional(),
    },
    effect: 'change',
    uses: [clusters.resize, clusters.get],
    run: async (a, { api }) => {
      if (a.size === undefined && a.num_nodes === undefined && a.storage_size_mib === undefined)
        throw ApiError.invalid('Give at least one of size, num_nodes, storage_size_mib.')
      const path = { id: a.id }
      // The API wants size and num_nodes together: what was not given stays as it is.
      const kept =
        a.size !== undefined && a.num_nodes !== undefined
          ? { size: a.size, num_nodes: a.num_nodes }
          : (await api(clusters.get, { path })).database
      const body = {
        size: a.size ?? kept.size,
        num_nodes: a.num_nodes ?? kept.num_nodes,
        ...(a.storage_size_mib === undefined ? {} : { storage_size_mib: a.storage_size_mib }),
      }
      await api(clusters.resize, { path, body })
      return { status: 'accepted', ...path, ...body }
    },
  }),

  'db-cluster-list-backups': call(clusters.backups, {
    title: 'List backups',
    about: 'List the backups of a cluster and when the next is due.',
    args: { id, ...paging },
    request: (a) => ({ path: { id: a.id }, query: pageOf(a) }),
  }),

  'db-cluster-list-options': call(clusters.options, {
    title: 'List cluster options',
    about: 'List engines with their versions, regions, sizes and node counts.',
    args: {},
    request: () => ({}),
  }),

  'db-cluster-upgrade-major-version': call(clusters.upgrade, {
    title: 'Upgrade major version',
    about: 'Upgrade a cluster to a newer major version of its engine.',
    args: { id, version: text('Target version, such as 17') },
    effect: 'create',
    request: (a) => ({ path: { id: a.id }, body: { version: a.version } }),
    result: (_, a) => ({ status: 'accepted', id: a.id, version: a.version }),
  }),
}
