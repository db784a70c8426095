import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf } from '#core/page.ts'
import { DecimalText, Timestamp } from '#core/schema.ts'

const { get } = resource('genai')

const Model = z.looseObject({
  uuid: z.string(),
  /** What callers put in `model`. */
  id: z.string(),
  name: z.string(),
  type: z.string().optional(),
  url: z.string().optional(),
  context_window: DecimalText.optional(),
  lifecycle_status: z.string().optional(),
  pricing: z
    .looseObject({
      input_price_per_million: z.number().optional(),
      output_price_per_million: z.number().optional(),
    })
    .optional(),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
})
export type Model = z.output<typeof Model>

const CustomModel = z.looseObject({ uuid: z.string(), name: z.string() })

const texts = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : [value]))

export const models = {
  list: get('/v2/gen-ai/models', {
    query: GenaiPage.extend({
      // Callers look a model up by its name without asking for pages.
      per_page: GenaiPage.shape.per_page.unwrap().default(1000),
      usecases: texts.optional(),
      public_only: z.union([z.boolean(), z.stringbool()]).optional(),
    }),
    returns: genaiListOf('models', Model),
  }),
}

/** Models that a team imported by itself: weights to be served, not endpoints of others. */
export const customModels = {
  list: get('/v2/gen-ai/custom_models', {
    query: GenaiPage.extend({ status: z.string().optional() }),
    returns: genaiListOf('models', CustomModel).extend({
      max_threshold: z.number().int().optional(),
    }),
  }),
}

/** A model of a provider, as this Cove knows it. */
export interface ModelRecord {
  uuid: string
  provider: string
  /** The provider's own name of the model. */
  id: string
  kind: 'chat' | 'embedding'
  /** US dollars for a million tokens; null where nobody said. */
  price_in: number | null
  price_out: number | null
  context_window: number | null
  /** Requests under way at once; null for no limit. */
  max_concurrency: number | null
  created_at: string
  updated_at: string
}

export const modelRecords = collection<ModelRecord>('inference_models', {
  called: 'Model',
  key: 'uuid',
  indexes: ['provider', 'id'],
  unique: [['provider', 'id']],
})
