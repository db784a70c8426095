import { X509Certificate } from 'node:crypto'
import { Redis } from 'iovalkey'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import type { Connection } from '#services/databases/clusters/contract.ts'
import { fromAddress } from './from.ts'

/** Who connects, from where; anything left out is the default account from anywhere. */
export interface Login {
  user?: string
  password?: string
  /** Address to come from. */
  from?: string
  /** The read-only endpoint. */
  standby?: Connection
}

/** An engine's ordinary client, reduced to what the story needs. */
export interface Client {
  /** Remember that `key` is `value`. */
  put(key: string, value: string): Promise<void>
  get(key: string): Promise<string | undefined>
  count(): Promise<number>
  /** All keys and values as one text, in order. */
  everything(): Promise<string>
  /** What is left on a server that was migrated from. */
  traces(): Promise<number>
  /** Something only the default account may do. */
  administer(): Promise<void>
  close(): Promise<void>
}

export interface EngineClient {
  connect(connection: Connection, ca: string, login?: Login): Promise<Client>
}

/** An ordinary client checks the certificate against the CA and the address. */
const tls = (ca: string) => {
  if (!new X509Certificate(ca).ca) throw new Error('The CA is not a CA.')
  return { ca, rejectUnauthorized: true }
}

const postgres: EngineClient = {
  connect: async (connection, ca, login = {}) => {
    const to = login.standby ?? connection
    const client = new pg.Client({
      host: to.host,
      port: to.port,
      user: login.user ?? to.user,
      password: login.password ?? to.password,
      database: to.database,
      ssl: tls(ca),
      connectionTimeoutMillis: 5000,
      ...(login.from ? { stream: () => fromAddress(login.from ?? '') } : {}),
    })
    client.on('error', () => undefined)
    await client.connect()
    return {
      put: async (key, value) => {
        await client.query('CREATE TABLE IF NOT EXISTS kv (k text PRIMARY KEY, v text)')
        await client.query('INSERT INTO kv VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = $2', [
          key,
          value,
        ])
      },
      get: async (key) =>
        (await client.query<{ v: string }>('SELECT v FROM kv WHERE k = $1', [key])).rows[0]?.v,
      count: async () =>
        (await client.query<{ n: number }>('SELECT count(*)::int AS n FROM kv')).rows[0]?.n ?? 0,
      everything: async () =>
        (
          await client.query<{ t: string }>(
            "SELECT coalesce(string_agg(k || '=' || v, ',' ORDER BY k), '') AS t FROM kv",
          )
        ).rows[0]?.t ?? '',
      traces: async () =>
        (
          await client.query<{ n: number }>(
            'SELECT ((SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_publication))::int AS n',
          )
        ).rows[0]?.n ?? -1,
      administer: async () => {
        await client.query('CREATE DATABASE scratch')
        await client.query('DROP DATABASE scratch')
      },
      close: () => client.end(),
    }
  },
}

const mysql: EngineClient = {
  connect: async (connection, ca, login = {}) => {
    const to = login.standby ?? connection
    const client = await createConnection({
      host: to.host,
      port: to.port,
      user: login.user ?? to.user ?? '',
      password: login.password ?? to.password ?? '',
      database: to.database ?? '',
      ssl: tls(ca),
      connectTimeout: 5000,
      ...(login.from
        ? { stream: () => fromAddress(login.from ?? '').connect(to.port, to.host) }
        : {}),
    })
    client.on('error', () => undefined)
    const rows = async (sql: string, values: string[] = []) =>
      (await client.query(sql, values))[0] as Record<string, unknown>[]
    return {
      put: async (key, value) => {
        await client.query('CREATE TABLE IF NOT EXISTS kv (k varchar(64) PRIMARY KEY, v text)')
        await client.query('REPLACE INTO kv VALUES (?, ?)', [key, value])
      },
      get: async (key) =>
        (await rows('SELECT v FROM kv WHERE k = ?', [key]))[0]?.v as string | undefined,
      count: async () => Number((await rows('SELECT count(*) AS n FROM kv'))[0]?.n),
      everything: async () =>
        (await rows('SELECT k, v FROM kv ORDER BY k')).map((row) => `${row.k}=${row.v}`).join(','),
      traces: async () =>
        (await rows('SHOW PROCESSLIST')).filter((row) => row.Command === 'Binlog Dump').length,
      administer: async () => {
        await client.query('CREATE DATABASE scratch')
        await client.query('DROP DATABASE scratch')
      },
      close: async () => client.destroy(),
    }
  },
}

const valkey: EngineClient = {
  connect: async (connection, ca, login = {}) => {
    const to = login.standby ?? connection
    const client = new Redis({
      host: to.host,
      port: to.port,
      username: login.user ?? to.user ?? '',
      password: login.password ?? to.password ?? '',
      tls: { ...tls(ca), ...(login.from ? { localAddress: login.from } : {}) },
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      connectTimeout: 5000,
    })
    let reason: Error | undefined
    client.on('error', (error: Error) => {
      reason = error
    })
    await client.connect().catch((error: unknown) => {
      throw reason ?? error
    })
    return {
      put: async (key, value) => void (await client.set(key, value)),
      get: async (key) => (await client.get(key)) ?? undefined,
      count: () => client.dbsize(),
      everything: async () => {
        const keys = (await client.keys('*')).sort()
        const values = keys.length > 0 ? await client.mget(keys) : []
        return keys.map((key, n) => `${key}=${values[n]}`).join(',')
      },
      traces: async () =>
        Number(/connected_slaves:(\d+)/.exec(await client.info('replication'))?.[1]),
      administer: async () => void (await client.flushdb()),
      close: async () => client.disconnect(),
    }
  },
}

export const clients: Record<string, EngineClient> = { pg: postgres, mysql, valkey, redis: valkey }
