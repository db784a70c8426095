import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf, one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'

const { get, post, put, del } = resource('genai')

/** How a deployment is spoken to; taken from its URL where it is not said. */
export const protocols = ['openai', 'http'] as const

/**
 * Where an agent answers. `url` is the base of an OpenAI-compatible endpoint, any HTTP endpoint that
 * takes the query object, `router:<name>` or a model of this Cove by name.
 */
const NewDeployment = z.object({
  name: z.string().trim().min(1).max(255),
  url: z.string().trim().min(1).max(2000),
  protocol: z.enum(protocols).optional(),
  /** What the endpoint calls the model, where it asks for one. */
  model: z.string().min(1).max(255).optional(),
  /** Name of the environment variable that holds the key; the key itself is never stored. */
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .optional(),
})

const Deployment = NewDeployment.extend({
  uuid: z.string(),
  status: z.enum(['STATUS_RUNNING', 'STATUS_UNKNOWN']),
  visibility: z.enum(['VISIBILITY_PRIVATE']),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Deployment = z.infer<typeof Deployment>

export const Agent = z.object({
  uuid: z.string(),
  name: z.string(),
  description: z.string().optional(),
  instruction: z.string().optional(),
  workspace_uuid: z.string().optional(),
  deployment: Deployment.optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Agent = z.infer<typeof Agent>

const Text = z.string().max(20_000)

const NewAgent = z.object({
  name: z.string().trim().min(1).max(255),
  description: Text.optional(),
  instruction: Text.optional(),
  workspace_uuid: z.string().optional(),
  /** Ours: where the agent runs. */
  deployment: NewDeployment.optional(),
})

export const OnlyDeployed = { only_deployed: z.stringbool().or(z.boolean()).optional() }

export const agents = {
  list: get('/v2/gen-ai/agents', {
    query: GenaiPage.extend(OnlyDeployed),
    returns: genaiListOf('agents', Agent),
  }),
  create: post('/v2/gen-ai/agents', {
    body: NewAgent,
    returns: one('agent', Agent),
    status: 200,
  }),
  get: get('/v2/gen-ai/agents/:uuid', { returns: one('agent', Agent) }),
  update: put('/v2/gen-ai/agents/:uuid', {
    body: NewAgent.partial(),
    returns: one('agent', Agent),
  }),
  delete: del('/v2/gen-ai/agents/:uuid', { returns: one('agent', Agent) }),
}

/** An agent as it is kept; `deployment_name` is unique, since runs name deployments by it. */
export interface StoredAgent extends Agent {
  deployment_name?: string
}

export const storedAgents = collection<StoredAgent>('genai_agents', {
  called: 'Agent',
  key: 'uuid',
  indexes: ['workspace_uuid'],
  unique: [['deployment_name']],
})
