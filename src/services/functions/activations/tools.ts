import { z } from 'zod'
import { flag, int, text } from '#mcp/args.ts'
import { script, type Tool } from '#mcp/tool.ts'
import { Limit, listed, NamespaceID, Skip } from '../arguments.ts'
import { dataPlane, ownKeyOperations as uses } from '../own-key.ts'
import { Activation, ActivationResponse } from './contract.ts'

/** Tools that read one activation, or a part of it. */
const reading = (title: string, about: string, returns: z.ZodType, part: string[]): Tool =>
  script({
    title,
    about,
    args: { NamespaceID, ActivationID: text('32 hexadecimal digits') },
    effect: 'read',
    uses,
    returns,
    run: async (a, context) => {
      const path = ['activations', a.ActivationID, ...part]
      return (await dataPlane(context, a.NamespaceID, { method: 'GET', path })).body
    },
  })

export const activationTools = {
  'functions-list-activations': script({
    title: 'List activations',
    about: "List the calls of a namespace's functions, newest first.",
    args: {
      NamespaceID,
      FunctionName: text('Only of this one, such as tools/hello').optional(),
      Limit,
      Skip: Skip.optional(),
      Since: int('Only later ones, ms since 1970', 0).optional(),
      Upto: int('Only earlier ones, ms since 1970', 0).optional(),
      IncludeDocs: flag('Whole records').optional(),
    },
    effect: 'read',
    uses,
    returns: z.object({ activations: z.array(Activation), count: z.number() }),
    run: async (a, context) => {
      const { body } = await dataPlane(context, a.NamespaceID, {
        method: 'GET',
        path: ['activations'],
        query: {
          name: a.FunctionName,
          limit: a.Limit,
          skip: a.Skip,
          since: a.Since,
          upto: a.Upto,
          docs: a.IncludeDocs,
        },
      })
      return listed('activations', body)
    },
  }),

  'functions-get-activation': reading(
    'Get activation',
    'Get the record of a call: timing, status, result and logs.',
    Activation,
    [],
  ),

  'functions-get-activation-logs': reading(
    'Get activation logs',
    'Get what a call wrote to its output.',
    z.object({ logs: z.array(z.string()) }),
    ['logs'],
  ),

  'functions-get-activation-result': reading(
    'Get activation result',
    'Get the return value and status of a call.',
    ActivationResponse,
    ['result'],
  ),
}
