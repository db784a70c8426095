import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { absentWhenEmpty } from '#core/schema.ts'

/** Whoever names a provider decides where keys of this machine are sent: its owner alone. */
const { get, put, del } = resource('inference_provider')

const Price = z.number().min(0).nullish()

/** A model as a person declares it; what is left out is unknown or unlimited. */
export const DeclaredModel = z.strictObject({
  id: z.string().min(1).max(255),
  kind: z.enum(['chat', 'embedding']).optional(),
  price_in: Price,
  price_out: Price,
  context_window: z.number().int().min(1).nullish(),
  max_concurrency: z.number().int().min(1).nullish(),
})
export type DeclaredModel = z.output<typeof DeclaredModel>

/** A name must be usable before the slash of `provider/model`. */
const Name = /^[a-z0-9][a-z0-9._-]{0,62}$/

export const providerNameFault = (name: string): string | undefined =>
  Name.test(name) && name !== 'router'
    ? undefined
    : `The provider's name must be like "ollama": a-z, 0-9, dot, hyphen and underscore, at most 63 characters; not "${name}".`

export const DeclaredProvider = z.strictObject({
  base_url: absentWhenEmpty(z.url({ protocol: /^https?$/ })),
  /** Name of the environment variable that holds the key; the key itself is never kept. */
  api_key_env: absentWhenEmpty(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
      .refine((name) => !/^(COVE_|DATABASE_URL$)/.test(name), {
        message: 'must not name a secret of Cove itself',
      }),
  ),
  /** None: all that the provider lists. */
  models: z.array(DeclaredModel).optional(),
})
export type DeclaredProvider = z.output<typeof DeclaredProvider>

const KnownModel = z.object({
  uuid: z.string(),
  id: z.string(),
  kind: z.string(),
  price_in: z.number().nullable(),
  price_out: z.number().nullable(),
  context_window: z.number().nullable(),
  max_concurrency: z.number().nullable(),
  /** How it stands now: `ready`, or why it is left alone for a while. */
  health: z.string(),
})

const Provider = z.object({
  name: z.string(),
  base_url: z.string(),
  api_key_env: z.string().nullable(),
  /** Whether the variable is set where Cove runs; true when none is needed. */
  api_key_present: z.boolean(),
  models: z.array(KnownModel),
})
export type Provider = z.output<typeof Provider>

export const providers = {
  list: get('/v2/gen-ai/providers', {
    returns: z.object({ providers: z.array(Provider) }),
    ours: true,
  }),
  /** Makes the provider known, or changes it; models that are not named stay as they are. */
  put: put('/v2/gen-ai/providers/:name', {
    body: DeclaredProvider,
    returns: z.object({ provider: Provider }),
    ours: true,
  }),
  delete: del('/v2/gen-ai/providers/:name', { ours: true }),
  deleteModel: del('/v2/gen-ai/providers/:name/models', {
    query: z.object({ id: z.string().min(1) }),
    ours: true,
  }),
}

export interface ProviderRecord {
  name: string
  base_url: string
  api_key_env: string | null
  created_at: string
}

export const providerRecords = collection<ProviderRecord>('inference_providers', {
  called: 'Provider',
  key: 'name',
})
