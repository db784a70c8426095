import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { storedAgents } from '../agents/contract.ts'
import { shownAgent } from '../agents/view.ts'
import { storedTestCases } from '../evaluation-test-cases/contract.ts'
import { type StoredWorkspace, storedWorkspaces, workspaces } from './contract.ts'

export const workspaceService: Service = (on, { store, ids, clock }) => {
  const table = store.collection(storedWorkspaces)
  const agents = store.collection(storedAgents)

  const agentsOf = async (workspace_uuid: string) =>
    (await agents.list({ where: { workspace_uuid } })).map(shownAgent)
  const shown = async (workspace: StoredWorkspace) => ({
    ...workspace,
    agents: await agentsOf(workspace.uuid),
  })
  const move = async (agent_uuids: readonly string[], workspace_uuid: string) => {
    for (const uuid of agent_uuids) await agents.require(uuid)
    for (const uuid of agent_uuids) {
      await agents.update(uuid, (agent) => ({ ...agent, workspace_uuid }))
    }
  }

  on(workspaces.list, async () => ({
    workspaces: await Promise.all((await table.list()).map(shown)),
  }))

  on(workspaces.get, async ({ path }) => ({
    workspace: await shown(await table.require(path.workspace_uuid)),
  }))

  on(workspaces.create, async ({ body: { agent_uuids = [], ...facts } }) => {
    const now = timestamp(clock)
    const made = { uuid: ids.uuid(), ...facts, created_at: now, updated_at: now }
    await table.insert(made)
    await move(agent_uuids, made.uuid)
    return { workspace: await shown(made) }
  })

  on(workspaces.update, async ({ path, body }) => {
    const updated_at = timestamp(clock)
    const change = (workspace: StoredWorkspace) => ({ ...workspace, ...body, updated_at })
    return { workspace: await shown(await table.update(path.workspace_uuid, change)) }
  })

  on(workspaces.delete, async ({ path: { workspace_uuid } }) => {
    await table.require(workspace_uuid)
    const cases = await store.collection(storedTestCases).count({ workspace_uuid })
    const members = await agents.count({ workspace_uuid })
    if (cases + members > 0) {
      throw ApiError.conflict(
        `The workspace still has ${members} agents and ${cases} test cases; move or delete them first.`,
      )
    }
    await table.remove(workspace_uuid)
    return { workspace_uuid }
  })

  on(workspaces.agents, async ({ path, query }) => {
    await table.require(path.workspace_uuid)
    const all = await agentsOf(path.workspace_uuid)
    const wanted = query.only_deployed ? all.filter(({ deployment }) => deployment) : all
    return genaiPageOfItems('agents', wanted, query)
  })

  on(workspaces.moveAgents, async ({ path, body }) => {
    const workspace = await table.require(path.workspace_uuid)
    await move(body.agent_uuids, workspace.uuid)
    return { workspace: await shown(workspace) }
  })
}
