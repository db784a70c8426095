import { text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { NamespaceID } from '../arguments.ts'
import { namespaces } from './contract.ts'

export const namespaceTools = {
  'functions-list-namespaces': call(namespaces.list, {
    title: 'List function namespaces',
    about: 'List the function namespaces.',
    args: {},
    request: () => ({}),
  }),

  'functions-get-namespace': call(namespaces.get, {
    title: 'Get function namespace',
    about: 'Get a namespace with its API host and key.',
    args: { NamespaceID },
    request: (a) => ({ path: { namespace_id: a.NamespaceID } }),
  }),

  'functions-create-namespace': call(namespaces.create, {
    title: 'Create function namespace',
    about: 'Create a namespace to deploy functions into.',
    args: {
      Label: text('Name for people, such as shop'),
      Region: text('Slug, such as nyc1'),
    },
    request: (a) => ({ body: { label: a.Label, region: a.Region } }),
  }),

  'functions-delete-namespace': call(namespaces.delete, {
    title: 'Delete function namespace',
    about: 'Delete a namespace with all its functions, packages and triggers for good.',
    args: { NamespaceID },
    request: (a) => ({ path: { namespace_id: a.NamespaceID } }),
  }),
}
