import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Node } from '../local/engine.ts'
import { copyTree, exists, privateFolder, writeWhole } from '../local/files.ts'
import { run } from '../local/run.ts'
import {
  adminRights,
  adminRoles,
  literal,
  quoted,
  root,
  withSession,
  wrongPassword,
} from './client.ts'

/** What the superuser of a template is called in with; each cluster changes it at its first start. */
const templateSecret = 'template'

/** An empty data folder, with nothing of ours in it yet. */
export const initdb = async (node: Node, into: string): Promise<void> => {
  const secret = `${into}.pw`
  await writeWhole(secret, templateSecret, node.as)
  await run({
    argv: [
      join(node.release.bin, 'initdb'),
      ...[
        '-D',
        into,
        '-U',
        root,
        '-E',
        'UTF8',
        '--locale=C.UTF-8',
        '--no-sync',
        '--data-checksums',
      ],
      ...['--auth=scram-sha-256', `--pwfile=${secret}`],
    ],
    cwd: dirname(into),
    as: node.as,
  })
  await rm(secret)
}

/** `initdb` once a version, with the default account and database; every new cluster is a copy. */
const template = async (node: Node): Promise<string> => {
  const { admin, database } = node.cluster
  const path = join(node.templates, `${node.release.semantic}-${admin.name}-${database}`)
  if (await exists(path)) return path
  await privateFolder(node.templates, node.as)
  const mine = `${path}.${process.pid}.${node.cluster.id.slice(0, 8)}`
  await rm(mine, { recursive: true, force: true })
  await initdb(node, mine)
  await run({
    argv: [join(node.release.bin, 'postgres'), '--single', '-F', '-D', mine, 'postgres'],
    input: [
      `CREATE ROLE ${quoted(admin.name)} ${adminRights};`,
      ...adminRoles.map((role) => `GRANT ${role} TO ${quoted(admin.name)};`),
      `CREATE DATABASE ${quoted(database)} OWNER ${quoted(admin.name)};`,
      '',
    ].join('\n'),
    as: node.as,
    cwd: mine,
  })
  // Several may have made one at the same time: the first wins, and they are alike.
  if (await exists(path)) await rm(mine, { recursive: true })
  else await run({ argv: ['mv', '-T', mine, path] })
  return path
}

export const initialise = async (node: Node, into: string): Promise<void> => {
  await copyTree(await template(node), into)
}

/** A new cluster gets passwords of its own; a restored one has its superuser's already. */
export const bootstrap = async (node: Node): Promise<void> => {
  const { admin, rootPassword } = node.cluster
  const claim = (password: string) =>
    withSession(
      node,
      async (client) => {
        await client.query(
          `ALTER ROLE ${quoted(admin.name)} ${adminRights} PASSWORD ${literal(admin.password)}`,
        )
        await client.query(`ALTER ROLE ${root} PASSWORD ${literal(rootPassword)}`)
      },
      'postgres',
      password,
    )
  await claim(templateSecret).catch((error: unknown) => {
    if ((error as { code?: string }).code !== wrongPassword) throw error
    return claim(rootPassword)
  })
}

/**
 * A copy of the running primary that recovers to a consistent state when started: the server's own
 * protocol for backups, with the log it needs held back by a slot and copied along.
 */
export const copyLive = async (node: Node, into: string): Promise<void> => {
  const modern = Number(node.release.version) >= 15
  await withSession(node, async (client) => {
    await client.query("SELECT pg_create_physical_replication_slot('cove_copy', true, true)")
    await client.query(
      modern
        ? "SELECT pg_backup_start('cove', true)"
        : "SELECT pg_start_backup('cove', true, false)",
    )
    await copyData(node.data, into)
    const { rows } = await client.query<{ labelfile: string }>(
      `SELECT labelfile FROM ${modern ? 'pg_backup_stop(false)' : 'pg_stop_backup(false, false)'}`,
    )
    await rm(join(into, 'pg_wal'), { recursive: true, force: true })
    await copyTree(join(node.data, 'pg_wal'), join(into, 'pg_wal'))
    await rm(join(into, 'postmaster.pid'), { force: true })
    await rm(join(into, 'postmaster.opts'), { force: true })
    await rm(join(into, 'pg_replslot'), { recursive: true, force: true })
    await privateFolder(join(into, 'pg_replslot'), node.as)
    await writeWhole(join(into, 'backup_label'), rows[0]?.labelfile ?? '', node.as)
  })
}

/** Files come and go under a running server; `cp` says so with status 1, which is expected here. */
const copyData = async (from: string, to: string) => {
  await run({
    argv: [
      'sh',
      '-c',
      'cp -a --reflink=auto "$1" "$2" 2>/dev/null || [ -d "$2/base" ]',
      'sh',
      from,
      to,
    ],
  })
}

export const restore = (_node: Node, from: string, into: string): Promise<void> =>
  copyTree(from, into)
