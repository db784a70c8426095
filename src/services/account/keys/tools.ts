import { int, pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { keys } from './contract.ts'

const ID = int('Number of the SSH key, for example 512189', 1)

export const keyTools = {
  'key-create': call(keys.create, {
    title: 'Add SSH key',
    about: 'Add an SSH public key to the account.',
    args: {
      Name: text('A name for the key, for example laptop'),
      PublicKey: text('Content of the public key file, for example ssh-ed25519 AAAA… me@laptop'),
    },
    request: (a) => ({ body: { name: a.Name, public_key: a.PublicKey } }),
  }),

  'key-delete': call(keys.delete, {
    title: 'Delete SSH key',
    about: 'Delete an SSH key from the account.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),

  'key-get': call(keys.get, {
    title: 'Get SSH key',
    about: 'Get one SSH key by its number.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),

  'key-list': call(keys.list, {
    title: 'List SSH keys',
    about: 'List the SSH keys of the account.',
    args: paging(30),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
