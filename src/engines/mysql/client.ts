import { join } from 'node:path'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import type { Node } from '../local/engine.ts'

/** The server's own superuser; customers never get it. */
export const root = 'root'

export const socketOf = (node: Node) => join(node.run, 'server.sock')

/** A session over the node's own socket, closed afterwards. */
export const withSession = async <T>(
  node: Node,
  work: (client: Connection) => Promise<T>,
  password = node.cluster.rootPassword,
): Promise<T> => {
  const client = await createConnection({
    socketPath: socketOf(node),
    user: root,
    password,
    connectTimeout: 10_000,
  })
  // A server that goes away ends the query in hand with the same error.
  client.on('error', () => undefined)
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}

export const rowsOf = async (
  client: Connection,
  sql: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> => (await client.query<RowDataPacket[]>(sql, values))[0]

export const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``
