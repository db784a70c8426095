import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { allows, type Token } from '#platform/tokens.ts'
import { routerRecords } from '../routers/contract.ts'
import { storedWorkspaces } from '../workspaces/contract.ts'
import { agents, type Deployment, type StoredAgent, storedAgents } from './contract.ts'
import { shownAgent } from './view.ts'

const keyScope = 'inference_provider:update'

export const agentService: Service = (on, { store, ids, clock }) => {
  const table = store.collection(storedAgents)

  type NewDeployment = Pick<Deployment, 'name' | 'url' | 'protocol' | 'model' | 'api_key_env'>

  const deployed = async (wish: NewDeployment, before?: Deployment): Promise<Deployment> => {
    await checkTarget(wish)
    const now = timestamp(clock)
    return {
      ...wish,
      uuid: before?.uuid ?? ids.uuid(),
      status: 'STATUS_RUNNING',
      visibility: 'VISIBILITY_PRIVATE',
      created_at: before?.created_at ?? now,
      updated_at: now,
    }
  }
  const checkTarget = async ({ url }: NewDeployment) => {
    const router = /^router:(.+)$/.exec(url)?.[1]
    if (router !== undefined) {
      if (await store.collection(routerRecords).find({ name: router })) return
      throw ApiError.invalid(`deployment.url names the router ${router}, which does not exist.`)
    }
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw ApiError.invalid(
        'deployment.url must be an http or https address, or router:<name> of a router of this Cove.',
      )
    }
  }
  /** Whoever says where a key of this machine is sent must be its owner. */
  const checkKey = (wish: NewDeployment | undefined, token: Token) => {
    if (wish?.api_key_env === undefined) return
    if (/^(COVE_|DATABASE_URL$)/.test(wish.api_key_env)) {
      throw ApiError.invalid('deployment.api_key_env must not name a secret of Cove itself.')
    }
    if (!allows(token.scopes, keyScope)) {
      throw ApiError.forbidden(`deployment.api_key_env needs a token with the scope ${keyScope}.`)
    }
  }
  const checkWorkspace = async (uuid: string | undefined) => {
    if (uuid !== undefined) await store.collection(storedWorkspaces).require(uuid)
  }

  on(agents.list, async ({ query }) => {
    const all = await table.list()
    const wanted = query.only_deployed ? all.filter(({ deployment }) => deployment) : all
    return genaiPageOfItems('agents', wanted.map(shownAgent), query)
  })

  on(agents.get, async ({ path }) => ({ agent: shownAgent(await table.require(path.uuid)) }))

  on(agents.create, async ({ body: { deployment, ...facts }, token }) => {
    checkKey(deployment, token)
    await checkWorkspace(facts.workspace_uuid)
    const now = timestamp(clock)
    const made: StoredAgent = {
      uuid: ids.uuid(),
      ...facts,
      created_at: now,
      updated_at: now,
      ...(deployment && {
        deployment: await deployed(deployment),
        deployment_name: deployment.name,
      }),
    }
    return { agent: shownAgent(await table.insert(made)) }
  })

  on(agents.update, async ({ path, body: { deployment, ...facts }, token }) => {
    checkKey(deployment, token)
    await checkWorkspace(facts.workspace_uuid)
    const old = await table.require(path.uuid)
    const next = deployment && (await deployed(deployment, old.deployment))
    const changed = await table.update(path.uuid, (agent) => ({
      ...agent,
      ...facts,
      updated_at: timestamp(clock),
      ...(next && { deployment: next, deployment_name: next.name }),
    }))
    return { agent: shownAgent(changed) }
  })

  on(agents.delete, async ({ path }) => {
    const agent = await table.require(path.uuid)
    await table.remove(path.uuid)
    return { agent: shownAgent(agent) }
  })
}
