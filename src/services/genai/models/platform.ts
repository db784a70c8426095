import { genaiPageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { customModels, type Model, type ModelRecord, modelRecords, models } from './contract.ts'

export const modelService: Service = (on, { store }) => {
  const table = store.collection(modelRecords)

  on(models.list, async ({ query, note }) => {
    const known = await table.list()
    if (known.length === 0) {
      note('No model is known yet: "cove models add" names an OpenAI-compatible provider.')
    }
    const wanted = query.usecases
    const fitting = wanted
      ? known.filter((model) => usecasesOf(model).some((usecase) => wanted.includes(usecase)))
      : known
    return genaiPageOfItems('models', fitting.map(publicModel), query)
  })

  /** Cove serves no weights of its own, so there are none to list. */
  on(customModels.list, ({ query }) => genaiPageOfItems('models', [], query))
}

const usecasesOf = ({ kind }: ModelRecord): string[] =>
  kind === 'chat'
    ? ['MODEL_USECASE_AGENT', 'MODEL_USECASE_SERVERLESS', 'MODEL_USECASE_EVALUATION_JUDGE']
    : ['MODEL_USECASE_KNOWLEDGEBASE', 'MODEL_USECASE_SERVERLESS']

/** A model in the shape of the public catalogue; what nobody declared is left out. */
const publicModel = (model: ModelRecord): Model => ({
  uuid: model.uuid,
  id: model.id,
  name: model.id,
  description: `${model.id} at the provider ${model.provider}`,
  type: model.kind,
  model_availability: 'serverless',
  lifecycle_status: 'active',
  is_foundational: false,
  upload_complete: true,
  ...(model.context_window === null ? {} : { context_window: String(model.context_window) }),
  ...(model.price_in === null && model.price_out === null
    ? {}
    : {
        pricing: {
          input_price_per_million: model.price_in ?? 0,
          output_price_per_million: model.price_out ?? 0,
        },
      }),
  created_at: model.created_at,
  updated_at: model.updated_at,
})
