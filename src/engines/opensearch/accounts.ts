import type { UserSpec } from '../database.ts'
import type { Node } from '../local/engine.ts'
import { ask } from './client.ts'

const api = '/_plugins/_security/api'

/** What a permission of the API allows on an index. */
const actions: Record<string, readonly string[]> = {
  deny: [],
  read: ['read', 'indices:admin/mappings/get', 'indices:admin/get'],
  write: ['write', 'create_index', 'indices:admin/mapping/put'],
  readwrite: ['read', 'write', 'create_index', 'indices:admin/mapping/put', 'indices:admin/get'],
  admin: ['indices_all'],
}

const roleOf = (name: string) => `cove_${name}`

export const putUser = async (node: Node, user: UserSpec): Promise<void> => {
  await ask(node, 'PUT', `${api}/internalusers/${encodeURIComponent(user.name)}`, {
    password: user.password,
    backend_roles: user.primary ? ['admin'] : [],
  })
  if (user.primary) return
  const role = encodeURIComponent(roleOf(user.name))
  await ask(node, 'PUT', `${api}/roles/${role}`, {
    cluster_permissions: ['cluster_composite_ops'],
    index_permissions: (user.indexRights ?? [])
      .filter(({ permission }) => permission !== 'deny')
      .map(({ index, permission }) => ({
        index_patterns: [index],
        allowed_actions: actions[permission] ?? [],
      })),
  })
  await ask(node, 'PUT', `${api}/rolesmapping/${role}`, { users: [user.name] })
}

export const deleteUser = async (node: Node, name: string): Promise<void> => {
  const role = encodeURIComponent(roleOf(name))
  await ask(node, 'DELETE', `${api}/internalusers/${encodeURIComponent(name)}`)
  await ask(node, 'DELETE', `${api}/rolesmapping/${role}`)
  await ask(node, 'DELETE', `${api}/roles/${role}`)
}

export const listUsers = async (node: Node): Promise<string[]> =>
  Object.keys(await ask(node, 'GET', `${api}/internalusers/`))
