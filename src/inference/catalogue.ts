import type { Clock } from '#platform/clock.ts'
import type { Store } from '#platform/store/store.ts'
import { type ModelRecord, modelRecords } from '#services/genai/models/contract.ts'
import { type ProviderRecord, providerRecords } from '#services/genai/providers/contract.ts'
import { type ModelRouter, routerRecords } from '#services/genai/routers/contract.ts'
import type { Endpoint } from './endpoint.ts'

/** Models and routers as they are now. */
export interface Snapshot {
  /** The endpoints that serve a model, by `model` and by `provider/model`. */
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>
  readonly routers: ReadonlyMap<string, ModelRouter>
  readonly models: readonly ModelRecord[]
}

export interface Catalogue {
  now(): Promise<Snapshot>
  /** Something was written: the next look is at the store. */
  changed(): void
  /** How many models there were at the last look. */
  modelCount(): number
}

/** Another process may have written; its changes are seen after this many ms. */
const freshFor = 1000

export const createCatalogue = (store: Store, clock: Clock): Catalogue => {
  const tables = {
    models: store.collection(modelRecords),
    providers: store.collection(providerRecords),
    routers: store.collection(routerRecords),
  }
  let models = 0
  let kept: { snapshot: Promise<Snapshot>; at: number } | undefined

  const read = async (): Promise<Snapshot> => {
    const [all, providers, routers] = await Promise.all([
      tables.models.list(),
      tables.providers.list(),
      tables.routers.list(),
    ])
    const known = new Map(providers.map((provider) => [provider.name, provider]))
    const endpoints = new Map<string, Endpoint[]>()
    models = all.length
    for (const model of all) {
      const provider = known.get(model.provider)
      if (!provider) continue
      const endpoint = endpointOf(model, provider)
      for (const name of [model.id, `${model.provider}/${model.id}`]) {
        endpoints.set(name, [...(endpoints.get(name) ?? []), endpoint])
      }
    }
    return {
      endpoints,
      routers: new Map(routers.map((router) => [router.name, router])),
      models: all,
    }
  }

  return {
    now: () => {
      if (!kept || clock.now() - kept.at >= freshFor) {
        kept = { snapshot: read(), at: clock.now() }
        kept.snapshot.catch(() => {
          kept = undefined // Whoever waits for it hears the error; the next asks anew.
        })
      }
      return kept.snapshot
    },
    modelCount: () => models,
    changed: () => {
      kept = undefined
    },
  }
}

const endpointOf = (model: ModelRecord, provider: ProviderRecord): Endpoint => ({
  key: model.uuid,
  provider: model.provider,
  model: model.id,
  baseUrl: provider.base_url,
  apiKeyEnv: provider.api_key_env,
  priceIn: model.price_in,
  priceOut: model.price_out,
  contextWindow: model.context_window,
  maxConcurrency: model.max_concurrency,
})
