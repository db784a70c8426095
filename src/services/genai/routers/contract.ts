import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf, one } from '#core/page.ts'
import { absentWhenEmpty, Timestamp } from '#core/schema.ts'

const { get, post, put, del } = resource('genai')

/** How a policy orders its models. */
export const preferences = ['none', 'fastest', 'cheapest'] as const

const SelectionPolicy = z.looseObject({ prefer: z.string() })

/** A kind of work and the models for it. Which policies are acceptable, `policyFault` says. */
export const Policy = z.looseObject({
  task_slug: absentWhenEmpty(z.string()),
  custom_task: absentWhenEmpty(z.looseObject({ name: z.string(), description: z.string() })),
  models: absentWhenEmpty(z.array(z.string())),
  selection_policy: absentWhenEmpty(SelectionPolicy),
})
export type Policy = z.output<typeof Policy>

const RouterConfig = z.looseObject({
  policies: z.array(Policy),
  fallback_models: z.array(z.string()),
})

export const ModelRouter = z.looseObject({
  uuid: z.string(),
  name: z.string(),
  description: z.string(),
  regions: z.array(z.string()),
  config: RouterConfig,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type ModelRouter = z.output<typeof ModelRouter>

const TaskPreset = z.looseObject({
  task_slug: z.string(),
  name: z.string(),
  category: z.string(),
  description: z.string(),
  models: z.array(z.string()),
  tags: z.array(z.string()),
  selection_policy: SelectionPolicy,
})

/** What the runtime did for one router, task and model; an empty router means a direct call. */
export const RouteStats = z.object({
  router: z.string(),
  task: z.string(),
  model: z.string(),
  provider: z.string(),
  requests: z.number().int(),
  /** Answers that failed, including those another model then gave. */
  failures: z.number().int(),
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  /** US dollars by the prices declared for the model. */
  cost: z.number(),
  first_token_ms: z.object({ p50: z.number(), p95: z.number() }).nullable(),
  total_ms: z.object({ p50: z.number(), p95: z.number() }).nullable(),
})
export type RouteStats = z.output<typeof RouteStats>

const Name = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-z0-9-]+$/, 'may have only the characters a-z, 0-9 and hyphens')

/** Regions are a thing of the past: a router is everywhere. */
const Common = {
  description: absentWhenEmpty(z.string().max(2000)),
  regions: absentWhenEmpty(z.array(z.string())),
}

const Models = z.array(z.string().min(1)).min(1)

export const routers = {
  list: get('/v2/gen-ai/models/routers', {
    query: GenaiPage,
    returns: genaiListOf('model_routers', ModelRouter),
  }),
  create: post('/v2/gen-ai/models/routers', {
    body: z.object({
      ...Common,
      name: Name,
      policies: absentWhenEmpty(z.array(Policy)),
      fallback_models: Models,
    }),
    returns: one('model_router', ModelRouter),
    status: 200,
    invalid: 400,
  }),
  get: get('/v2/gen-ai/models/routers/:uuid', { returns: one('model_router', ModelRouter) }),
  update: put('/v2/gen-ai/models/routers/:uuid', {
    body: z.object({
      ...Common,
      description: z.string().max(2000).nullish(),
      name: absentWhenEmpty(Name),
      policies: z.array(Policy).nullish(),
      fallback_models: absentWhenEmpty(Models),
    }),
    returns: one('model_router', ModelRouter),
    invalid: 400,
  }),
  delete: del('/v2/gen-ai/models/routers/:uuid', {
    returns: z.looseObject({ uuid: z.string() }),
  }),
  taskPresets: get('/v2/gen-ai/models/routers/tasks/presets', {
    query: GenaiPage,
    returns: genaiListOf('tasks', TaskPreset),
  }),
  stats: get('/v2/gen-ai/models/routers/stats', {
    query: z.object({ router: z.string().optional() }),
    returns: z.object({ stats: z.array(RouteStats) }),
    ours: true,
  }),
}

export const routerRecords = collection<ModelRouter>('model_routers', {
  called: 'Model router',
  key: 'uuid',
  indexes: ['name'],
  unique: [['name']],
})

/** The first rule that a list of policies breaks, in words; undefined when all are right. */
export const policyFault = (policies: readonly Policy[]): string | undefined => {
  for (const [index, policy] of policies.entries()) {
    const fault = faultOf(policy)
    if (fault) return `policy ${index} ${fault}`
  }
  return undefined
}

const faultOf = ({ task_slug, custom_task, models, selection_policy }: Policy) => {
  if (task_slug === undefined && custom_task === undefined) return 'task is required'
  if (task_slug !== undefined && custom_task !== undefined)
    return 'must have only one of task_slug and custom_task'
  if (custom_task && !custom_task.name.trim()) return 'custom_task needs a name'
  if (custom_task && !custom_task.description.trim()) return 'custom_task needs a description'
  if (!models || models.length === 0) return 'models must have at least one model id'
  if (models.some((model) => !model.trim())) return 'models must not have an empty model id'
  const prefer = selection_policy?.prefer
  if (prefer !== undefined && !preferences.some((known) => known === prefer))
    return `selection_policy.prefer must be one of ${preferences.join(', ')}, not "${prefer}"`
  return undefined
}
