import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Redis } from 'iovalkey'
import { ApiError, messageOf } from '#core/error.ts'
import type { MigrationSource } from '../database.ts'
import type { MigrationEngine, Node } from '../local/engine.ts'
import { writeWhole } from '../local/files.ts'
import { info, once, session, withSession } from './client.ts'
import { usesTls } from './settings.ts'

/** The cluster becomes a replica of the source until it is stopped; nothing is left there. */
export const valkeyMigration: MigrationEngine = {
  start: async (node, source) => {
    await check(source)
    const trust = source.ssl ? await trustOf(node, source) : undefined
    await withSession(node, async (client) => {
      await client.config('SET', 'masteruser', source.username ?? '')
      await client.config('SET', 'masterauth', source.password ?? '')
      if (trust) await client.config('SET', 'tls-ca-cert-file', trust)
      await client.config('SET', 'tls-replication', source.ssl ? 'yes' : 'no')
      await client.replicaof(source.host, source.port)
    })
    return { status: 'running', detail: {} }
  },
  status: (node, migration) =>
    withSession(node, async (client) => {
      if (migration.status !== 'running' && migration.status !== 'syncing') return migration
      const state = await info(client, 'replication')
      if (state.role !== 'slave')
        return { ...migration, status: 'error', problem: 'The server was restarted on its own.' }
      const up = state.master_link_status === 'up' && state.master_sync_in_progress === '0'
      const silent = Number(state.master_link_down_since_seconds ?? 0)
      if (!up && silent > 20)
        return {
          ...migration,
          status: 'error',
          problem: `The source has been silent for ${silent} s.`,
        }
      return { ...migration, status: up ? 'syncing' : 'running' }
    }),
  stop: (node) =>
    withSession(node, async (client) => {
      await client.replicaof('NO', 'ONE')
      await client.config('SET', 'masterauth', '')
      await client.config('SET', 'masteruser', '')
      await client.config('SET', 'tls-ca-cert-file', node.tls.ca)
      await client.config('SET', 'tls-replication', usesTls(node) ? 'yes' : 'no')
    }),
}

const check = (source: MigrationSource) =>
  session(
    new Redis({
      host: source.host,
      port: source.port,
      ...(source.username ? { username: source.username } : {}),
      ...(source.password ? { password: source.password } : {}),
      ...(source.ssl ? { tls: { rejectUnauthorized: false } } : {}),
      ...once,
    }),
    (client) => client.ping(),
  ).catch((error: unknown) => {
    throw ApiError.invalid(
      `source ${source.host}:${source.port} cannot be migrated from: ${messageOf(error)}.`,
    )
  })

/** Trust the certificates the source shows now, beside Cove's own and the system's. */
const trustOf = async (node: Node, source: MigrationSource): Promise<string> => {
  const shown = await new Promise<string[]>((resolve, reject) => {
    const socket = connect(
      { host: source.host, port: source.port, rejectUnauthorized: false },
      () => {
        const chain: string[] = []
        let one = socket.getPeerCertificate(true)
        while (one?.raw && !chain.includes(pem(one.raw))) {
          chain.push(pem(one.raw))
          one = one.issuerCertificate
        }
        socket.destroy()
        resolve(chain)
      },
    )
    socket.setTimeout(5000, () => socket.destroy(new Error('it does not answer')))
    socket.once('error', reject)
  })
  const system = await readFile('/etc/ssl/certs/ca-certificates.crt', 'utf8').catch(() => '')
  const file = join(node.data, 'migration-ca.pem')
  await writeWhole(
    file,
    [await readFile(node.tls.ca, 'utf8'), ...shown, system].join('\n'),
    node.as,
  )
  return file
}

const pem = (raw: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----`
