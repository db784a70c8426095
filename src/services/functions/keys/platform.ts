import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { hashSecret } from '../plane/access.ts'
import type { Plane } from '../plane/plane.ts'
import { type AccessKey, accessKeys } from './contract.ts'
import { lifetime, type StoredAccessKey, storedAccessKeys } from './records.ts'

export const accessKeyService =
  (plane: Plane): Service =>
  (on, { store, clock, ids }) => {
    const table = store.collection(storedAccessKeys)
    const view = ({
      id,
      name,
      expires_at,
      created_at,
      updated_at,
    }: StoredAccessKey): AccessKey => ({
      id,
      name,
      expires_at,
      created_at,
      updated_at,
    })
    const find = async (path: { namespace_id: string; key_id: string }) => {
      const { namespace } = await plane.namespace(path.namespace_id)
      const key = await table.get(path.key_id)
      if (key?.namespace !== namespace) throw ApiError.notFound(`Access key ${path.key_id}`)
      return key
    }

    on(accessKeys.list, async ({ path }) => {
      const { namespace } = await plane.namespace(path.namespace_id)
      const keys = await table.list({ where: { namespace } })
      return { access_keys: keys.map(view), count: keys.length }
    })

    on(accessKeys.create, async ({ path, body }) => {
      const { namespace } = await plane.namespace(path.namespace_id)
      await dropExpired()
      const limit = plane.ground.settings.keys
      if ((await table.count()) >= limit)
        throw ApiError.invalid(`access key limit reached: an account has at most ${limit}.`)
      const secret = ids.secret(32)
      const now = timestamp(clock)
      const expires = body.expires_in === undefined ? null : clock.now() + lifetime(body.expires_in)
      const key = await table.insert({
        id: `dof_v1_${ids.secret(16)}`,
        name: body.name,
        namespace,
        hash: hashSecret(secret),
        expires_at: expires === null ? null : new Date(expires).toISOString(),
        created_at: now,
        updated_at: now,
      })
      return { access_key: { ...view(key), secret } }
    })

    on(accessKeys.rename, async ({ path, body }) => {
      const { id } = await find(path)
      const key = await table.update(id, (current) => ({
        ...current,
        name: body.name,
        updated_at: timestamp(clock),
      }))
      return { access_key: view(key) }
    })

    on(accessKeys.delete, async ({ path }) => {
      const { id } = await find(path)
      await table.remove(id)
      plane.access.forget()
      return {}
    })

    /** Expired keys open nothing; their names and places are free again. */
    const dropExpired = async () => {
      const now = clock.now()
      for (const { id, expires_at } of await table.list())
        if (expires_at !== null && Date.parse(expires_at) <= now) await table.remove(id)
    }
  }
