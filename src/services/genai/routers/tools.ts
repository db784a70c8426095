import { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'
import { anyText, jsonText, pageOf, paging, text, texts } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { Policy, policyFault, routers } from './contract.ts'

const UUID = text('Router UUID')
const FallbackModels = texts('Model ids for when policies fail, in order', 1)

/** The policies in a text; undefined for an empty one. */
const parsePolicies = (given: string | undefined): Policy[] | undefined => {
  if (given === undefined || given.trim() === '') return undefined
  const parsed = z.array(Policy).safeParse(jsonOf(given))
  if (!parsed.success) throw ApiError.invalid(`${issuesOf(parsed.error, 'PoliciesJson')}.`)
  const fault = policyFault(parsed.data)
  if (fault) throw ApiError.invalid(`PoliciesJson: ${fault}.`)
  return parsed.data
}

const jsonOf = (given: string): unknown => {
  try {
    return JSON.parse(given)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw ApiError.invalid(`PoliciesJson must be a JSON array of policies as text: ${why}.`)
  }
}

export const routerTools = {
  'genai-inference-router-create': call(routers.create, {
    title: 'Create inference router',
    about: 'Create a router that picks a model by task; used as model router:<name>.',
    args: {
      Name: text('Such as support-router'),
      PoliciesJson: jsonText(
        'JSON array such as [{"task_slug":"summarization","models":["llama3-8b"],"selection_policy":{"prefer":"cheapest"}}]; custom_task {name, description} may replace task_slug; prefer cheapest or fastest',
      ).optional(),
      FallbackModels,
    },
    request: (a) => {
      const policies = parsePolicies(a.PoliciesJson) ?? []
      return {
        body: {
          name: a.Name,
          ...(policies.length > 0 ? { policies } : {}),
          fallback_models: a.FallbackModels,
        },
      }
    },
  }),

  'genai-inference-router-list': call(routers.list, {
    title: 'List inference routers',
    about: 'List the inference routers.',
    args: paging(1000, 1000),
    request: (a) => ({ query: pageOf(a) }),
  }),

  'genai-inference-router-get': call(routers.get, {
    title: 'Get inference router',
    about: 'Get a router with its policies and fallback models.',
    args: { UUID },
    request: (a) => ({ path: { uuid: a.UUID } }),
  }),

  'genai-inference-router-update': call(routers.update, {
    title: 'Update inference router',
    about: 'Change what is given of a router; the rest stays.',
    args: {
      UUID,
      Name: text('New name').optional(),
      Description: anyText('New description').optional(),
      PoliciesJson: jsonText('Replaces all policies; as in create').optional(),
      FallbackModels: FallbackModels.optional(),
    },
    request: (a) => {
      const policies = parsePolicies(a.PoliciesJson)
      const body = {
        ...(a.Name === undefined ? {} : { name: a.Name }),
        ...(a.Description === undefined ? {} : { description: a.Description }),
        ...(policies === undefined ? {} : { policies }),
        ...(a.FallbackModels === undefined ? {} : { fallback_models: a.FallbackModels }),
      }
      if (Object.keys(body).length === 0) {
        throw ApiError.invalid(
          'Give at least one of Name, Description, PoliciesJson and FallbackModels.',
        )
      }
      return { path: { uuid: a.UUID }, body }
    },
  }),

  'genai-inference-router-delete': call(routers.delete, {
    title: 'Delete inference router',
    about: 'Delete a router for good.',
    args: { UUID },
    request: (a) => ({ path: { uuid: a.UUID } }),
    // The API may answer with an empty body.
    result: (answer: { uuid: string } | undefined, a) => ({ uuid: a.UUID, ...answer }),
    returns: z.looseObject({ uuid: z.string() }),
  }),

  'genai-inference-router-task-presets': call(routers.taskPresets, {
    title: 'List router task presets',
    about: 'List the built-in tasks for policies, with suggested models.',
    args: paging(1000, 1000),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
