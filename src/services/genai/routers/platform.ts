import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageOf, genaiPageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { modelRecords } from '../models/contract.ts'
import { type ModelRouter, type Policy, policyFault, routerRecords, routers } from './contract.ts'
import { suggestedModels } from './suggest.ts'
import { isTaskSlug, nearTasks, taskSlugs, tasks } from './tasks.ts'

/** A router is everywhere; the field is answered as the public API does. */
const everywhere = ['all']

/** `changed` tells the runtime that routers were written. */
export const routerService =
  (changed: () => void): Service =>
  (on, { store, clock, ids, actions }) => {
    const table = store.collection(routerRecords)
    const known = store.collection(modelRecords)

    /** Models may be added later, so an unknown one is told, not refused. */
    const unknownModels = async (wanted: readonly string[]): Promise<string | undefined> => {
      const names = new Set(
        (await known.list()).flatMap(({ id, provider }) => [id, `${provider}/${id}`]),
      )
      const missing = [...new Set(wanted)].filter((id) => !names.has(id))
      if (missing.length === 0) return undefined
      return `No provider of this Cove has ${missing.join(', ')} yet: requests pass over ${missing.length === 1 ? 'it' : 'them'} until "cove models add" makes ${missing.length === 1 ? 'it' : 'them'} known.`
    }

    on(routers.list, ({ query }) => genaiPageOf('model_routers', table, query))

    on(routers.get, async ({ path }) => ({ model_router: await table.require(path.uuid) }))

    on(routers.create, async ({ body, note }) => {
      const policies = checked(body.policies ?? [])
      const now = timestamp(clock)
      const router: ModelRouter = {
        uuid: ids.uuid(),
        name: body.name,
        description: body.description ?? '',
        regions: everywhere,
        config: { policies, fallback_models: body.fallback_models },
        created_at: now,
        updated_at: now,
      }
      const model_router = await store.transaction(async (tx) => {
        await actions.record({ type: 'create', resource_type, resource_id: router.uuid }, tx)
        return tx.collection(routerRecords).insert(router)
      })
      changed()
      const told = await unknownModels(modelsOf(model_router))
      if (told) note(told)
      return { model_router }
    })

    on(routers.update, async ({ path, body, note }) => {
      const { name, description, fallback_models } = body
      const policies = body.policies && checked(body.policies)
      if (name === undefined && description == null && !policies && !fallback_models) {
        throw ApiError.badRequest(
          'Give at least one of name, description, policies and fallback_models.',
        )
      }
      const model_router = await table.update(path.uuid, (router) => ({
        ...router,
        name: name ?? router.name,
        description: description ?? router.description,
        config: {
          policies: policies ?? router.config.policies,
          fallback_models: fallback_models ?? router.config.fallback_models,
        },
        updated_at: timestamp(clock),
      }))
      changed()
      const told = await unknownModels(modelsOf(model_router))
      if (told) note(told)
      return { model_router }
    })

    on(routers.delete, async ({ path: { uuid } }) => {
      await store.transaction(async (tx) => {
        const all = tx.collection(routerRecords)
        await all.require(uuid)
        await all.remove(uuid)
        await actions.record({ type: 'destroy', resource_type, resource_id: uuid }, tx)
      })
      changed()
      return { uuid }
    })

    on(routers.taskPresets, async ({ query }) => {
      const models = await known.list()
      const presets = taskSlugs.map((task_slug) => {
        const { name, category, description, tags, prefer } = tasks[task_slug]
        return {
          task_slug,
          name,
          category,
          description,
          models: suggestedModels(tasks[task_slug], models),
          tags: [...tags],
          selection_policy: { prefer },
        }
      })
      return genaiPageOfItems('tasks', presets, query)
    })
  }

const resource_type = 'model_router'

const modelsOf = ({ config }: ModelRouter): string[] => [
  ...config.policies.flatMap((policy) => policy.models ?? []),
  ...config.fallback_models,
]

const checked = (policies: Policy[]): Policy[] => {
  const fault = policyFault(policies)
  if (fault) throw ApiError.badRequest(fault)
  for (const [index, { task_slug }] of policies.entries()) {
    if (task_slug === undefined || isTaskSlug(task_slug)) continue
    const near = nearTasks(task_slug)
    const hint =
      near.length > 0
        ? `did you mean ${near.join(' or ')}?`
        : 'GET /v2/gen-ai/models/routers/tasks/presets lists the known ones.'
    throw ApiError.badRequest(`policy ${index} task_slug "${task_slug}" is not known: ${hint}`)
  }
  return policies
}
