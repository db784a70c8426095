import { ApiError } from '#core/error.ts'
import type { UserSpec } from '../database.ts'
import type { Node } from '../local/engine.ts'
import { quoted, root, rowsOf, withSession } from './client.ts'
import { isMariadb } from './releases.ts'

const system = ['information_schema', 'mysql', 'performance_schema', 'sys']

/** Everything but files, shutting down and being the superuser. */
const adminRights = [
  'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, REFERENCES, INDEX, ALTER',
  'SHOW DATABASES, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, REPLICATION SLAVE',
  'REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, CREATE USER',
  'EVENT, TRIGGER',
].join(', ')

/** The account replicas read the primary's log with. */
export const replicator = 'cove_replication'

export const bootstrap = async (node: Node): Promise<void> => {
  const { admin, database, rootPassword } = node.cluster
  const secure = (password: string) =>
    withSession(
      node,
      async (client) => {
        await client.query('SET sql_log_bin = 0')
        await client.query("ALTER USER 'root'@'localhost' IDENTIFIED BY ?", [rootPassword])
        await client.query('CREATE USER IF NOT EXISTS ?@? IDENTIFIED BY ?', [
          replicator,
          '%',
          rootPassword,
        ])
        await client.query('GRANT REPLICATION SLAVE ON *.* TO ?@?', [replicator, '%'])
        await client
          .query(
            "DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost')",
          )
          .catch(() => undefined)
        await client.query(`CREATE DATABASE IF NOT EXISTS ${quoted(database)}`)
        await client.query('FLUSH PRIVILEGES')
      },
      password,
    )
  await secure('').catch((error: unknown) => {
    if ((error as { code?: string }).code !== wrongPassword) throw error
    return secure(rootPassword)
  })
  await putUser(node, { ...admin, primary: true })
}

export const wrongPassword = 'ER_ACCESS_DENIED_ERROR'

export const listUsers = (node: Node): Promise<string[]> =>
  withSession(node, async (client) => {
    const rows = await rowsOf(
      client,
      "SELECT User AS name FROM mysql.user WHERE Host = '%' AND User NOT IN (?)",
      [[root, replicator, '']],
    )
    const { name: first } = node.cluster.admin
    return rows
      .map((row) => String(row.name))
      .sort((a, b) => (a === first ? -1 : b === first ? 1 : 0))
  })

const plugins = {
  mariadb: 'mysql_native_password',
  mysql: 'caching_sha2_password',
} as const

export const putUser = (node: Node, user: UserSpec): Promise<void> => {
  const mine = plugins[isMariadb(node.release) ? 'mariadb' : 'mysql']
  if (user.authPlugin !== undefined && user.authPlugin !== mine)
    throw ApiError.invalid(
      `mysql_auth_plugin must be ${mine}: ${node.release.product} has no ${user.authPlugin}.`,
    )
  return withSession(node, async (client) => {
    const who = [user.name, '%']
    await client.query('CREATE USER IF NOT EXISTS ?@?', who)
    if (isMariadb(node.release))
      await client.query(`ALTER USER ?@? IDENTIFIED VIA ${mine} USING PASSWORD(?)`, [
        ...who,
        user.password,
      ])
    else await client.query(`ALTER USER ?@? IDENTIFIED WITH ${mine} BY ?`, [...who, user.password])
    if (user.primary)
      await client.query(`GRANT ${adminRights} ON *.* TO ?@? WITH GRANT OPTION`, who)
    else if (user.readonly) await client.query('GRANT SELECT, SHOW VIEW ON *.* TO ?@?', who)
    else await client.query(`GRANT ALL ON ${quoted(node.cluster.database)}.* TO ?@?`, who)
  })
}

export const deleteUser = (node: Node, name: string): Promise<void> =>
  withSession(node, async (client) => {
    await client.query('DROP USER ?@?', [name, '%'])
    const rows = await rowsOf(
      client,
      'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = ?',
      [name],
    )
    for (const row of rows) await client.query(`KILL ${Number(row.id)}`)
  })

export const listDatabases = (node: Node): Promise<string[]> =>
  withSession(node, async (client) => {
    const rows = await rowsOf(client, 'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA')
    return rows.map((row) => String(row.name)).filter((name) => !system.includes(name))
  })

export const createDatabase = (node: Node, name: string): Promise<void> =>
  withSession(node, async (client) => {
    await client.query(`CREATE DATABASE ${quoted(name)}`)
  })

export const deleteDatabase = (node: Node, name: string): Promise<void> =>
  withSession(node, async (client) => {
    await client.query(`DROP DATABASE ${quoted(name)}`)
  })

export const isSystem = (name: string) => system.includes(name)
