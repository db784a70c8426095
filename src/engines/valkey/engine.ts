import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#core/error.ts'
import type { LocalEngine, Node, Release } from '../local/engine.ts'
import { copyTree, privateFolder, writeWhole } from '../local/files.ts'
import { findProgram, remembered } from '../local/find.ts'
import { run } from '../local/run.ts'
import { info, root, withSession } from './client.ts'
import { accessList, rulesOf, writeFiles } from './files.ts'
import { valkeyMigration } from './migration.ts'
import { applyConfig, readConfig, wantsAof } from './settings.ts'

/** Valkey where it is installed, otherwise Redis, named as what it is. */
const find = async (): Promise<Release[]> => {
  for (const [name, program] of [
    ['Valkey', 'valkey-server'],
    ['Redis', 'redis-server'],
  ] as const) {
    const bin = await findProgram(program)
    if (!bin) continue
    const semantic = /v=(\d+(\.\d+)+)/.exec(await run({ argv: [bin, '--version'] }))?.[1]
    const version = semantic?.split('.')[0]
    if (semantic && version) return [{ version, semantic, product: `${name} ${semantic}`, bin }]
  }
  return []
}

const empty = async (node: Node, into: string) => {
  await privateFolder(into, node.as)
  await writeWhole(join(into, 'users.acl'), accessList(node), node.as)
}

const unnamed = async (): Promise<never> => {
  throw ApiError.invalid('Valkey has numbered databases only; they need not be created.')
}

export const valkeyEngine = (): LocalEngine => ({
  engine: 'valkey',
  accounts: ['valkey', 'redis', 'nobody'],
  stopSignal: 'SIGTERM',
  graceMs: 10_000,
  maxNodes: 3,
  accountsPerNode: true,
  releases: remembered(find, 10_000),
  missing: 'Neither Valkey nor Redis was found: install the Debian package redis-server.',
  initialise: empty,
  replicate: async (node, primary, into) => {
    await privateFolder(into, node.as)
    await copyTree(join(primary.data, 'users.acl'), join(into, 'users.acl'))
  },
  configure: writeFiles,
  command: async (node) => ({
    argv: [node.release.bin, join(node.dir, 'server.conf')],
    cwd: node.data,
    as: node.as,
  }),
  ready: (node) =>
    withSession(node, async (client) => {
      const state = await info(client, 'persistence')
      if (state.loading !== '0') throw new Error('The data set is being loaded.')
      if (wantsAof(node) && state.aof_enabled === '0')
        await client.config('SET', 'appendonly', 'yes')
      if (
        node.role === 'replica' &&
        (await info(client, 'replication')).master_link_status !== 'up'
      )
        throw new Error('The replica has not caught up yet.')
    }),
  bootstrap: (node) => saveUser(node, { ...node.cluster.admin, primary: true }),
  promote: (node) =>
    withSession(node, async (client) => void (await client.replicaof('NO', 'ONE'))),
  connections: (node) =>
    withSession(
      node,
      async (client) => Number((await info(client, 'clients')).connected_clients) - 1,
    ),
  readConfig,
  applyConfig,
  listUsers: (node) =>
    withSession(node, async (client) => {
      const names = (await client.acl('USERS')) as string[]
      return names
        .filter((name) => name !== root)
        .sort((a) => (a === node.cluster.admin.name ? -1 : 1))
    }),
  putUser: saveUser,
  deleteUser: (node, name) =>
    withSession(node, async (client) => {
      await client.acl('DELUSER', name)
      await client.acl('SAVE')
    }),
  listDatabases: async () => [],
  createDatabase: unnamed,
  deleteDatabase: unnamed,
  backup: async (node, into) => {
    await withSession(node, async (client) => {
      await client.bgsave('SCHEDULE')
      for (;;) {
        const state = await info(client, 'persistence')
        if (state.rdb_bgsave_in_progress === '0') {
          if (state.rdb_last_bgsave_status === 'ok') break
          throw new Error('The snapshot failed; see the logs of the cluster.')
        }
        await sleep(20)
      }
    })
    await privateFolder(into, node.as)
    for (const file of ['dump.rdb', 'users.acl'])
      await copyTree(join(node.data, file), join(into, file))
  },
  restore: (_node, from, into) => copyTree(from, into),
  upgrade: async (from, _to, into) => copyTree(from.data, into),
  migration: valkeyMigration,
})

async function saveUser(node: Node, user: Parameters<LocalEngine['putUser']>[1]): Promise<void> {
  await withSession(node, async (client) => {
    await client.acl('SETUSER', user.name, ...(rulesOf(user) as [string]))
    await client.acl('SAVE')
  })
}
