import { ApiError } from '#core/error.ts'
import { commaList, int, text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { id, pageOf, paging } from '../args.ts'
import { clusters } from './contract.ts'

export const clusterTools = {
  'db-cluster-list': call(clusters.list, {
    title: 'List database clusters',
    about: 'List the managed database clusters.',
    args: paging,
    request: (a) => ({ query: pageOf(a) }),
  }),

  'db-cluster-get': call(clusters.get, {
    title: 'Get database cluster',
    about: 'Get a database cluster with its status and connection details.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-get-ca': call(clusters.ca, {
    title: 'Get CA certificate',
    about: 'Get the CA certificate that verifies connections to a cluster, as base64 of PEM.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-create': call(clusters.create, {
    title: 'Create database cluster',
    about: 'Create a database cluster; db-cluster-list-options tells what can be chosen.',
    args: {
      name: text('Name, for example orders-db'),
      engine: text('Engine: pg, mysql, valkey, redis, mongodb, kafka or opensearch'),
      version: text('Version of the engine, for example 15'),
      region: text('Region, for example nyc3'),
      size: text('Size of a node, for example db-s-1vcpu-1gb'),
      num_nodes: int('Number of nodes', 1),
      tags: commaList('Tags separated by commas').optional(),
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
    about: 'Delete a database cluster with all its data and backups.',
    args: { id },
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-resize': script({
    title: 'Resize database cluster',
    about: 'Change the size, the number of nodes or the storage of a cluster; give at least one.',
    args: {
      id,
      size: text('New size of a node').optional(),
      num_nodes: int('New number of nodes', 1).optional(),
      storage_size_mib: int('New storage in MiB', 1).optional(),
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
    about: 'List the backups of a cluster, and when the next is taken.',
    args: { id, ...paging },
    request: (a) => ({ path: { id: a.id }, query: pageOf(a) }),
  }),

  'db-cluster-list-options': call(clusters.options, {
    title: 'List cluster options',
    about: 'List the engines, versions, regions, sizes and node counts that can be created.',
    args: {},
    request: () => ({}),
  }),

  'db-cluster-upgrade-major-version': call(clusters.upgrade, {
    title: 'Upgrade major version',
    about: 'Upgrade a cluster to a newer major version of its engine; data and users are kept.',
    args: { id, version: text('Target version, for example 17') },
    effect: 'create',
    request: (a) => ({ path: { id: a.id }, body: { version: a.version } }),
    result: (_, a) => ({ status: 'accepted', id: a.id, version: a.version }),
  }),
}
