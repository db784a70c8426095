import type { UserSpec } from '../database.ts'
import type { Node } from '../local/engine.ts'
import { adminRights, literal, quoted, root, withSession } from './client.ts'

export const listUsers = (node: Node): Promise<string[]> =>
  withSession(node, async (client) => {
    const { rows } = await client.query<{ rolname: string }>(
      `SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname <> '${root}' ORDER BY oid`,
    )
    return rows.map((row) => row.rolname)
  })

export const putUser = (node: Node, user: UserSpec): Promise<void> =>
  withSession(node, async (client) => {
    const name = quoted(user.name)
    const { rowCount } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [
      user.name,
    ])
    const rights = user.primary
      ? adminRights
      : `LOGIN ${user.replication ? 'REPLICATION' : 'NOREPLICATION'}`
    const verb = rowCount ? 'ALTER' : 'CREATE'
    await client.query(`${verb} ROLE ${name} ${rights} PASSWORD ${literal(user.password)}`)
    if (user.readonly) await client.query(`GRANT pg_read_all_data TO ${name}`)
  })

/** What the account owned goes to the default account; its rights go. */
export const deleteUser = async (node: Node, user: string): Promise<void> => {
  const name = quoted(user)
  for (const database of [...(await listDatabases(node)), 'postgres'])
    await withSession(
      node,
      async (client) => {
        await client.query(`REASSIGN OWNED BY ${name} TO ${quoted(node.cluster.admin.name)}`)
        await client.query(`DROP OWNED BY ${name}`)
      },
      database,
    )
  await withSession(node, async (client) => {
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1',
      [user],
    )
    await client.query(`DROP ROLE ${name}`)
  })
}

export const listDatabases = (node: Node): Promise<string[]> =>
  withSession(node, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY oid",
    )
    return rows.map((row) => row.datname)
  })

export const createDatabase = (node: Node, name: string): Promise<void> =>
  withSession(node, async (client) => {
    await client.query(`CREATE DATABASE ${quoted(name)} OWNER ${quoted(node.cluster.admin.name)}`)
  })

export const deleteDatabase = (node: Node, name: string): Promise<void> =>
  withSession(node, async (client) => {
    await client.query(`DROP DATABASE ${quoted(name)} WITH (FORCE)`)
  })
