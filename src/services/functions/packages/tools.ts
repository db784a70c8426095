import { z } from 'zod'
import { flag, object, text } from '#mcp/args.ts'
import { script } from '#mcp/tool.ts'
import { Limit, listed, NamespaceID, pairs, Skip } from '../arguments.ts'
import { dataPlane, ownKeyOperations as uses } from '../own-key.ts'
import { Package } from './contract.ts'

const PackageName = text('Package, such as tools')

export const packageTools = {
  'functions-list-packages': script({
    title: 'List packages',
    about: "List a namespace's packages, newest first.",
    args: {
      NamespaceID,
      Limit,
      Skip: Skip.optional(),
      Public: flag('Include those shared by others').optional(),
    },
    effect: 'read',
    uses,
    returns: z.object({ packages: z.array(Package), count: z.number() }),
    run: async (a, context) => {
      const query = { limit: a.Limit, skip: a.Skip, public: a.Public }
      const { body } = await dataPlane(context, a.NamespaceID, {
        method: 'GET',
        path: ['packages'],
        query,
      })
      return listed('packages', body)
    },
  }),

  'functions-get-package': script({
    title: 'Get package',
    about: 'Get a package with its functions and parameters.',
    args: { NamespaceID, PackageName },
    effect: 'read',
    uses,
    returns: Package,
    run: async (a, context) => {
      const path = ['packages', a.PackageName]
      return (await dataPlane(context, a.NamespaceID, { method: 'GET', path })).body
    },
  }),

  'functions-create-or-update-package': script({
    title: 'Create or update package',
    about: 'Create or change a package: functions with common parameters.',
    args: {
      NamespaceID,
      PackageName,
      Publish: flag('Share it').optional(),
      Annotations: pairs('About the package').optional(),
      Parameters: pairs('Given to all its functions').optional(),
      Binding: object('Package that it stands for', {
        namespace: z.string().min(1),
        name: z.string().min(1),
      }).optional(),
    },
    effect: 'change',
    uses,
    returns: Package,
    run: async (a, context) => {
      const { body } = await dataPlane(context, a.NamespaceID, {
        method: 'PUT',
        path: ['packages', a.PackageName],
        query: { overwrite: true },
        body: {
          ...(a.Publish === undefined ? {} : { publish: a.Publish }),
          ...(a.Annotations ? { annotations: a.Annotations } : {}),
          ...(a.Parameters ? { parameters: a.Parameters } : {}),
          ...(a.Binding ? { binding: a.Binding } : {}),
        },
      })
      return body
    },
  }),

  'functions-delete-package': script({
    title: 'Delete package',
    about: 'Delete a package; one with functions in it only with Force.',
    args: {
      NamespaceID,
      PackageName,
      Force: flag('Also delete its functions').default(false),
    },
    effect: 'delete',
    uses,
    returns: Package,
    run: async (a, context) => {
      const { body } = await dataPlane(context, a.NamespaceID, {
        method: 'DELETE',
        path: ['packages', a.PackageName],
        query: { force: a.Force ? true : undefined },
      })
      return body
    },
  }),
}
