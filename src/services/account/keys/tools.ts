import { int, pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { keys } from './contract.ts'

const ID = int('Key number', 1)

export const keyTools = {
  'key-create': call(keys.create, {
    title: 'Add SSH key',
    about: 'Add an SSH public key to the account.',
    args: {
      Name: text('Name, such as laptop'),
      PublicKey: text('Public key, such as ssh-ed25519 AAAA…'),
    },
    request: (a) => ({ body: { name: a.Name, public_key: a.PublicKey } }),
  }),

  'key-delete': call(keys.delete, {
    title: 'Delete SSH key',
    about: 'Delete an SSH key.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),

  'key-get': call(keys.get, {
    title: 'Get SSH key',
    about: 'Get an SSH key by its number.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),

  'key-list': call(keys.list, {
    title: 'List SSH keys',
    about: 'List the SSH public keys.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
