import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import type { Plane } from '../plane/plane.ts'
import { type Namespace, namespaces } from './contract.ts'
import { type StoredNamespace, storedNamespaces } from './records.ts'

export const namespaceService =
  (plane: Plane): Service =>
  (on, { store, clock, ids, actions }) => {
    const { url, settings, invoker } = plane.ground
    const table = store.collection(storedNamespaces)

    const summary = (of: StoredNamespace): Namespace => ({
      namespace: of.namespace,
      uuid: of.uuid,
      label: of.label,
      region: of.region,
      api_host: url(),
      created_at: of.created_at,
      updated_at: of.updated_at,
    })
    const view = (of: StoredNamespace): Namespace => ({
      ...summary(of),
      ...(of.remote ? {} : { key: of.key }),
    })

    on(namespaces.list, async () => ({ namespaces: (await table.list()).map(summary) }))

    on(namespaces.get, async ({ path }) => ({
      namespace: view(await plane.namespace(path.namespace_id)),
    }))

    on(namespaces.create, async ({ body }) => {
      if ((await table.count()) >= settings.namespaces)
        throw ApiError.invalid(`namespace limit reached: ${settings.namespaces}`)
      if ((body.api_host === undefined) !== (body.key === undefined))
        throw ApiError.invalid(
          'api_host and key go together: a cluster elsewhere and its user:password.',
        )
      const uuid = ids.uuid()
      const [user = '', password = ''] = body.key?.split(':') ?? []
      const now = timestamp(clock)
      const made: StoredNamespace = {
        namespace: `fn-${uuid}`,
        uuid,
        label: body.label,
        region: body.region,
        key: body.api_host ? password : ids.secret(32),
        ...(body.api_host ? { remote: { api_host: body.api_host, user } } : {}),
        created_at: now,
        updated_at: now,
      }
      await store.transaction(async (tx) => {
        await tx.collection(storedNamespaces).insert(made)
        await actions.record(
          { type: 'create', resource_type: 'function_namespace', resource_id: made.namespace },
          tx,
        )
      })
      // The first call finds sandboxes ready.
      invoker.start().catch((error: Error) => plane.ground.log.error(error.message))
      return { namespace: view(made) }
    })

    on(namespaces.delete, async ({ path }) => {
      await plane.removeNamespace(await plane.namespace(path.namespace_id))
    })
  }
