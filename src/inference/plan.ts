import { ApiError } from '#core/error.ts'
import type { ModelRouter } from '#services/genai/routers/contract.ts'
import type { Snapshot } from './catalogue.ts'
import type { Classifier } from './classify/classifier.ts'
import type { Endpoint, Surface } from './endpoint.ts'
import { type Demand, ordered } from './order.ts'
import { outputLimit, promptLength, promptText } from './prompt.ts'
import type { Health } from './upstream/health.ts'
import { estimatedTokens } from './upstream/reading.ts'
import type { Speed } from './upstream/speed.ts'

/** Which models to ask, in order, and why these. */
export interface Plan {
  /** Empty for a direct call. */
  readonly router: string
  /** The task of the policy that fits; `none` when no policy does; empty for a direct call. */
  readonly task: string
  readonly confidence: number | undefined
  readonly candidates: readonly Endpoint[]
  readonly demand: Demand
}

export interface PlanParts {
  classifier: Classifier
  speed: Speed
  health: Health
}

export const routerPrefix = 'router:'

export const planFor = async (
  { classifier, speed, health }: PlanParts,
  snapshot: Snapshot,
  model: string,
  surface: Surface,
  body: Readonly<Record<string, unknown>>,
): Promise<Plan> => {
  const demand = {
    input: estimatedTokens(promptLength(surface, body)),
    limit: outputLimit(body),
  }
  if (!model.startsWith(routerPrefix)) {
    const candidates = snapshot.endpoints.get(model)
    if (!candidates) throw unknownModel(model, snapshot)
    return { router: '', task: '', confidence: undefined, candidates, demand }
  }
  const router = snapshot.routers.get(model.slice(routerPrefix.length))
  if (!router) throw unknownModel(model, snapshot)
  if (surface === 'embeddings') {
    throw ApiError.badRequest(
      `"${model}" is a router, and routers serve chat and responses: vectors of different models do not compare. Name an embedding model.`,
    )
  }
  const match = await classifier.match(promptText(surface, body), router.config.policies)
  const policy = match && router.config.policies[match.index]
  const served = (ids: readonly string[]) => ids.flatMap((id) => snapshot.endpoints.get(id) ?? [])
  const preferred = ordered(
    served(policy?.models ?? []),
    policy?.selection_policy?.prefer,
    demand,
    speed,
    health.busy,
  )
  const candidates = [...new Set([...preferred, ...served(router.config.fallback_models)])]
  if (candidates.length === 0) throw noModels(router)
  return {
    router: router.name,
    task: match?.task ?? 'none',
    confidence: match?.confidence,
    candidates: roomyFirst(candidates, demand),
    demand,
  }
}

/** A prompt that is too long for a model is not sent to it while another has room. */
const roomyFirst = (endpoints: readonly Endpoint[], { input }: Demand): Endpoint[] => {
  const fits = ({ contextWindow }: Endpoint) => contextWindow === null || contextWindow >= input
  return [...endpoints.filter(fits), ...endpoints.filter((endpoint) => !fits(endpoint))]
}

const unknownModel = (model: string, { endpoints, routers }: Snapshot): ApiError => {
  const known = [
    ...[...endpoints.keys()].filter((name) => !name.includes('/')),
    ...[...routers.keys()].map((name) => routerPrefix + name),
  ]
  const hint =
    known.length === 0
      ? 'No model is known to this Cove yet: name a provider with "cove models add".'
      : `Known: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`
  return new ApiError(404, `The model "${model}" does not exist. ${hint}`, {
    id: 'model_not_found',
  })
}

const noModels = ({ name, config }: ModelRouter): ApiError => {
  const wanted = [
    ...config.policies.flatMap(({ models }) => models ?? []),
    ...config.fallback_models,
  ]
  return ApiError.unavailable(
    `No provider of this Cove has a model of ${routerPrefix}${name} (${[...new Set(wanted)].join(', ')}): name one with "cove models add".`,
  )
}
