import { randomBytes } from 'node:crypto'
import {
  callDataPlane,
  type DataPlaneAnswer,
  type DataPlaneRequest,
  type DataPlaneTarget,
} from '#client/data-plane.ts'
import { ApiError } from '#core/error.ts'
import type { ToolContext } from '#mcp/tool.ts'
import { accessKeys, ownKeyPrefix } from './keys/contract.ts'
import { namespaces } from './namespaces/contract.ts'

/** v2 operations that every tool on the data plane may need, to get at its key. */
export const ownKeyOperations = [namespaces.get, accessKeys.list, accessKeys.create]

const lifetime = '24h'

/** A call of one namespace's data plane, with a key of the tool server's own. */
export const dataPlane = async (
  context: ToolContext,
  namespace: string,
  request: Omit<DataPlaneRequest, 'signal'>,
): Promise<DataPlaneAnswer> => {
  const { memory, signal } = context
  const topic = `functions key ${namespace}`
  const remembered = () => memory.get(topic) as Promise<DataPlaneTarget> | undefined
  const remember = (made: Promise<DataPlaneTarget>): Promise<DataPlaneTarget> => {
    memory.set(topic, made)
    made.catch(() => memory.get(topic) === made && memory.delete(topic))
    return made
  }
  const path = [namespace, ...request.path]
  const send = (target: DataPlaneTarget) =>
    callDataPlane(context.fetch, target, { ...request, path, signal })

  const known = remembered() ?? remember(firstKey(context, namespace))
  try {
    return await send(await known)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    // Refused before anything was done: expired, revoked, or the namespace was made anew.
    const current = remembered()
    const renewed = current && current !== known ? current : remember(newKey(context, namespace))
    return send(await renewed)
  }
}

/** The first use in this session: keys of earlier sessions are nobody's any more. */
const firstKey = async (context: ToolContext, namespace: string): Promise<DataPlaneTarget> => {
  const { access_keys } = await context.api(accessKeys.list, { path: { namespace_id: namespace } })
  const orphans = access_keys.filter((key) => key.name.startsWith(ownKeyPrefix))
  await Promise.all(orphans.map((key) => remove(context, namespace, key.id)))
  return newKey(context, namespace)
}

const remove = async ({ api }: ToolContext, namespace: string, key: string) => {
  try {
    await api(accessKeys.delete, { path: { namespace_id: namespace, key_id: key } })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
}

const newKey = async ({ api }: ToolContext, namespace: string): Promise<DataPlaneTarget> => {
  const path = { namespace_id: namespace }
  const { namespace: found } = await api(namespaces.get, { path })
  const name = `${ownKeyPrefix}${Date.now()}-${randomBytes(3).toString('hex')}`
  const { access_key } = await api(accessKeys.create, {
    path,
    body: { name, expires_in: lifetime },
  })
  // Some clouds return the secret as the whole of `user:password`.
  const [user = access_key.id, password = access_key.secret] = access_key.secret.includes(':')
    ? access_key.secret.split(/:(.*)/s)
    : []
  return { apiHost: found.api_host, user, password }
}
