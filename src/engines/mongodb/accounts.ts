import type pg from 'pg'
import type { UserSpec } from '../database.ts'
import type { Node } from '../local/engine.ts'
import * as postgres from '../postgres/accounts.ts'
import { quoted, withSession } from '../postgres/client.ts'

/** FerretDB signs a client in with its own name and password, so PostgreSQL's rights are its rights. */
const inDocuments = <T>(node: Node, work: (client: pg.Client) => Promise<T>) =>
  withSession(node, work, node.cluster.database)

export const listUsers = postgres.listUsers
export const deleteUser = postgres.deleteUser

export const putUser = async (node: Node, user: UserSpec): Promise<void> => {
  await postgres.putUser(node, user)
  if (user.primary) return
  const name = quoted(user.name)
  const admin = quoted(node.cluster.admin.name)
  const known = await listDatabases(node)
  await inDocuments(node, async (client) => {
    // The default account sees and may change what any account made.
    await client.query(`GRANT ${name} TO ${admin}`)
    for (const schema of known.map(quoted)) {
      await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${name}`)
      await client.query(`REVOKE ALL ON SCHEMA ${schema} FROM ${name}`)
      await client.query(
        `ALTER DEFAULT PRIVILEGES FOR ROLE ${admin} IN SCHEMA ${schema} REVOKE ALL ON TABLES FROM ${name}`,
      )
    }
    const { databases, role } = user.documentRights ?? { databases: [], role: '' }
    const tables = role === 'readOnly' ? 'SELECT' : 'ALL'
    for (const database of databases) {
      const schema = quoted(database)
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${admin}`)
      await client.query(
        `GRANT ${role === 'readOnly' ? 'USAGE' : 'USAGE, CREATE'} ON SCHEMA ${schema} TO ${name}`,
      )
      await client.query(`GRANT ${tables} ON ALL TABLES IN SCHEMA ${schema} TO ${name}`)
      await client.query(
        `ALTER DEFAULT PRIVILEGES FOR ROLE ${admin} IN SCHEMA ${schema} GRANT ${tables} ON TABLES TO ${name}`,
      )
    }
  })
}

export const listDatabases = (node: Node): Promise<string[]> =>
  inDocuments(node, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "SELECT nspname AS name FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'public') ORDER BY 1",
    )
    return rows.map((row) => row.name)
  })

export const createDatabase = (node: Node, name: string): Promise<void> =>
  inDocuments(node, async (client) => {
    const admin = quoted(node.cluster.admin.name)
    await client.query(`CREATE SCHEMA ${quoted(name)} AUTHORIZATION ${admin}`)
  })

export const deleteDatabase = (node: Node, name: string): Promise<void> =>
  inDocuments(node, async (client) => {
    await client.query(`DROP SCHEMA ${quoted(name)} CASCADE`)
  })
