import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf, one } from '#core/page.ts'
import { Timestamp } from '#core/schema.ts'
import { Agent, OnlyDeployed } from '../agents/contract.ts'

const { get, post, put, del } = resource('genai')

export const Workspace = z.object({
  uuid: z.string(),
  name: z.string(),
  description: z.string().optional(),
  agents: z.array(Agent).optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Workspace = z.infer<typeof Workspace>

const Name = z.string().trim().min(1).max(255)
const Description = z.string().max(2000)

export const workspaces = {
  list: get('/v2/gen-ai/workspaces', {
    returns: z.object({ workspaces: z.array(Workspace) }),
  }),
  create: post('/v2/gen-ai/workspaces', {
    body: z.object({
      name: Name,
      description: Description.optional(),
      agent_uuids: z.array(z.string()).optional(),
    }),
    returns: one('workspace', Workspace),
    status: 200,
  }),
  get: get('/v2/gen-ai/workspaces/:workspace_uuid', { returns: one('workspace', Workspace) }),
  update: put('/v2/gen-ai/workspaces/:workspace_uuid', {
    body: z.object({ name: Name.optional(), description: Description.optional() }),
    returns: one('workspace', Workspace),
  }),
  delete: del('/v2/gen-ai/workspaces/:workspace_uuid', {
    returns: z.object({ workspace_uuid: z.string() }),
  }),
  agents: get('/v2/gen-ai/workspaces/:workspace_uuid/agents', {
    query: GenaiPage.extend(OnlyDeployed),
    returns: genaiListOf('agents', Agent),
  }),
  moveAgents: put('/v2/gen-ai/workspaces/:workspace_uuid/agents', {
    body: z.object({ agent_uuids: z.array(z.string()).min(1) }),
    returns: one('workspace', Workspace),
  }),
}

/** A workspace as it is kept; its agents are found by its uuid. */
export type StoredWorkspace = Omit<Workspace, 'agents'>

export const storedWorkspaces = collection<StoredWorkspace>('genai_workspaces', {
  called: 'Workspace',
  key: 'uuid',
  unique: [['name']],
})
