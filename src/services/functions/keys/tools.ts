import { ApiError } from '#core/error.ts'
import { text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { NamespaceID } from '../arguments.ts'
import { accessKeys, ExpiresIn, ownKeyPrefix } from './contract.ts'

const reserved = (what: string) =>
  ApiError.invalid(
    `${what} starts with ${ownKeyPrefix}, which is reserved for the tool server's own keys.`,
  )

export const accessKeyTools = {
  'functions-list-access-keys': call(accessKeys.list, {
    title: 'List access keys',
    about: "List a namespace's access keys: names and dates, never secrets.",
    args: { NamespaceID },
    request: (a) => ({ path: { namespace_id: a.NamespaceID } }),
  }),

  'functions-create-access-key': call(accessKeys.create, {
    title: 'Create access key',
    about:
      'Create a key for other programs, only when the user asks for one; the secret is shown once.',
    args: {
      NamespaceID,
      Name: text(`Name, such as ci; not ${ownKeyPrefix}…`),
      ExpiresIn: ExpiresIn.describe(
        'Such as 24h or 7d, at least 1h; without, it never expires',
      ).optional(),
    },
    request: (a) => {
      if (a.Name.startsWith(ownKeyPrefix)) throw reserved('Name')
      return {
        path: { namespace_id: a.NamespaceID },
        body: { name: a.Name, ...(a.ExpiresIn ? { expires_in: a.ExpiresIn } : {}) },
      }
    },
  }),

  'functions-delete-access-key': script({
    title: 'Delete access key',
    about: "Delete an access key for good, with the user's consent.",
    args: { NamespaceID, KeyID: text('Key id, dof_v1_…') },
    effect: 'delete',
    uses: [accessKeys.list, accessKeys.delete],
    run: async (a, { api }) => {
      const path = { namespace_id: a.NamespaceID }
      const { access_keys } = await api(accessKeys.list, { path })
      const key = access_keys.find(({ id }) => id === a.KeyID)
      if (key?.name.startsWith(ownKeyPrefix)) throw reserved(`The name of key ${a.KeyID}`)
      await api(accessKeys.delete, { path: { ...path, key_id: a.KeyID } })
      return { status: 'deleted', namespace_id: a.NamespaceID, key_id: a.KeyID }
    },
  }),
}
