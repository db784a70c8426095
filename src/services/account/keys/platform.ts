import { ApiError } from '#core/error.ts'
import { pageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { keys, sshKeys } from './contract.ts'
import { parsePublicKey } from './public-key.ts'

export const keyService: Service = (on, { store, actions }) => {
  const table = store.collection(sshKeys)

  const find = async (idOrFingerprint: string) => {
    const key = /^\d+$/.test(idOrFingerprint)
      ? await table.get(Number(idOrFingerprint))
      : await table.find({ fingerprint: idOrFingerprint })
    if (!key) throw ApiError.notFound(`SSH key ${idOrFingerprint}`)
    return key
  }

  on(keys.list, ({ query }) => pageOf('ssh_keys', table, query))

  on(keys.get, async ({ path }) => ({ ssh_key: await find(path.id) }))

  on(keys.create, async ({ body }) => {
    const { line, fingerprint } = parsePublicKey(body.public_key)
    const taken = await table.find({ fingerprint })
    if (taken) throw ApiError.invalid(`public_key is already on the account, as "${taken.name}".`)
    return store.transaction(async (tx) => {
      const id = await tx.nextId('ssh_keys')
      const key = { id, fingerprint, public_key: line, name: body.name }
      await actions.record({ type: 'create', resource_type: 'ssh_key', resource_id: id }, tx)
      return { ssh_key: await tx.collection(sshKeys).insert(key) }
    })
  })

  on(keys.update, async ({ path, body }) => {
    const { id } = await find(path.id)
    return { ssh_key: await table.update(id, (key) => ({ ...key, name: body.name })) }
  })

  on(keys.delete, async ({ path }) => {
    const { id } = await find(path.id)
    await store.transaction(async (tx) => {
      await tx.collection(sshKeys).remove(id)
      await actions.record({ type: 'destroy', resource_type: 'ssh_key', resource_id: id }, tx)
    })
  })
}
