import pg from 'pg'
import type { Node } from '../local/engine.ts'

/** Cove's own superuser inside the cluster; customers never get it. */
export const root = 'postgres'

/** What the default account may do: everything but to be the superuser. */
export const adminRights = 'LOGIN CREATEDB CREATEROLE REPLICATION NOSUPERUSER'
export const adminRoles = ['pg_monitor', 'pg_signal_backend']

/** The server's code for it. */
export const wrongPassword = '28P01'

export const quoted = pg.escapeIdentifier
export const literal = pg.escapeLiteral

/** A session over the node's own socket, closed afterwards. */
export const withSession = async <T>(
  node: Node,
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
  password = node.cluster.rootPassword,
): Promise<T> => {
  const client = new pg.Client({
    host: node.run,
    port: node.port,
    user: root,
    password,
    database,
    connectionTimeoutMillis: 10_000,
    application_name: 'cove',
  })
  // A server that goes away ends the query in hand with the same error.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Before its first claim a new cluster still has the template's password: an answer is enough. */
export const answers = async (node: Node): Promise<void> => {
  await withSession(node, (client) => client.query('SELECT 1')).catch((error: unknown) => {
    if ((error as { code?: string }).code !== wrongPassword) throw error
  })
}
