import { ApiError } from '#core/error.ts'
import type { Endpoint } from '#inference/endpoint.ts'
import type { Inference } from '#inference/inference.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { type ModelRecord, modelRecords } from '../models/contract.ts'
import {
  type DeclaredModel,
  type DeclaredProvider,
  type Provider,
  type ProviderRecord,
  providerNameFault,
  providerRecords,
  providers,
} from './contract.ts'
import { listedModels } from './discovery.ts'

export interface ProviderParts {
  inference: Inference
  env: Readonly<Record<string, string | undefined>>
  /** Providers of the configuration file, by name. */
  declared: Readonly<Record<string, DeclaredProvider>>
}

/** Who serves models, and which. */
export const providerService =
  ({ inference, env, declared }: ProviderParts): Service =>
  (on, { store, clock, ids, log, onStart }) => {
    const table = store.collection(providerRecords)
    const models = store.collection(modelRecords)

    const show = async (provider: ProviderRecord): Promise<Provider> => {
      const { endpoints } = await inference.known()
      return {
        name: provider.name,
        base_url: provider.base_url,
        api_key_env: provider.api_key_env,
        api_key_present: provider.api_key_env === null || Boolean(env[provider.api_key_env]),
        models: (await models.list({ where: { provider: provider.name } })).map(
          ({ created_at: _c, updated_at: _u, provider: _p, ...model }) => ({
            ...model,
            health: healthOf(endpoints.get(`${provider.name}/${model.id}`)?.[0]),
          }),
        ),
      }
    }
    const healthOf = (endpoint: Endpoint | undefined) =>
      (endpoint && inference.health.pause(endpoint)?.why) ?? 'ready'

    const put = async (name: string, given: DeclaredProvider) => {
      const fault = providerNameFault(name)
      if (fault) throw ApiError.invalid(fault)
      const known = await table.get(name)
      const base = given.base_url ?? known?.base_url
      if (base === undefined) throw ApiError.invalid('base_url is required for a new provider.')
      const provider: ProviderRecord = {
        name,
        base_url: tidy(base),
        api_key_env: given.api_key_env ?? known?.api_key_env ?? null,
        created_at: known?.created_at ?? timestamp(clock),
      }
      const wanted = given.models?.length
        ? given.models
        : await listedModels(inference.send, provider, env)
      await store.transaction(async (tx) => {
        await tx.collection(providerRecords).put(provider)
        const all = tx.collection(modelRecords)
        for (const model of wanted) {
          const old = await all.find({ provider: name, id: model.id })
          await all.put(declaredModel(model, name, old))
        }
      })
      inference.changed()
      return provider
    }

    const declaredModel = (
      model: DeclaredModel,
      provider: string,
      old: ModelRecord | undefined,
    ): ModelRecord => ({
      uuid: old?.uuid ?? ids.uuid(),
      provider,
      id: model.id,
      kind: model.kind ?? old?.kind ?? (/embed/i.test(model.id) ? 'embedding' : 'chat'),
      price_in: model.price_in ?? old?.price_in ?? null,
      price_out: model.price_out ?? old?.price_out ?? null,
      context_window: model.context_window ?? old?.context_window ?? null,
      max_concurrency: model.max_concurrency ?? old?.max_concurrency ?? null,
      created_at: old?.created_at ?? timestamp(clock),
      updated_at: timestamp(clock),
    })

    on(providers.list, async () => ({
      providers: await Promise.all((await table.list()).map(show)),
    }))

    on(providers.put, async ({ path, body, note }) => {
      const provider = await put(path.name, body)
      const shown = await show(provider)
      if (!shown.api_key_present) {
        note(`${provider.api_key_env} is not set where Cove runs: set it and start Cove again.`)
      }
      return { provider: shown }
    })

    on(providers.delete, async ({ path }) => {
      await store.transaction(async (tx) => {
        await tx.collection(providerRecords).require(path.name)
        await tx.collection(providerRecords).remove(path.name)
        const all = tx.collection(modelRecords)
        for (const model of await all.list({ where: { provider: path.name } })) {
          await all.remove(model.uuid)
        }
      })
      inference.changed()
    })

    on(providers.deleteModel, async ({ path, query }) => {
      const model = await models.find({ provider: path.name, id: query.id })
      if (!model) throw ApiError.notFound(`Model ${query.id} of provider ${path.name}`)
      await models.remove(model.uuid)
      inference.changed()
    })

    onStart(async () => {
      for (const [name, provider] of Object.entries(declared)) {
        try {
          await put(name, provider)
        } catch (error) {
          // A provider that is down must not keep Cove from starting.
          log.warn(`The provider ${name} of config.json could not be taken up.`, {
            cause: error instanceof Error ? error.message : String(error),
          })
        }
      }
    })
  }

/** As OpenAI clients write it: without a slash at the end, and with `/v1` where there is no path. */
const tidy = (text: string): string => {
  const url = new URL(text)
  url.search = ''
  url.hash = ''
  const base = url.href.replace(/\/+$/, '')
  return url.pathname === '/' ? `${base}/v1` : base
}
