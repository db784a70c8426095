import type { Api } from '#client/client.ts'
import { agents as operations } from '#services/genai/agents/contract.ts'
import { workspaces } from '#services/genai/workspaces/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

const verbs =
  'Say one of: cove agents add DEPLOYMENT --workspace NAME --base-url URL, cove agents list, cove agents remove DEPLOYMENT.'

export const agents = command({
  about: 'Declare where agents answer, so that they can be evaluated.',
  usage: 'add DEPLOYMENT | list | remove DEPLOYMENT',
  settings: ['workspace', 'base-url', 'model', 'api-key-env', 'plain', 'json', 'token'],
  examples: [
    'cove agents add support-v2 --workspace helpdesk --base-url https://agent.example/v1 --model support --api-key-env SUPPORT_KEY',
    'cove agents add triage --workspace helpdesk --base-url http://127.0.0.1:3000/ask --plain',
    'cove agents add routed --workspace helpdesk --base-url router:helpdesk',
    'cove agents list',
    'cove agents remove support-v2',
  ],
  run: async ({ values, home, positionals }, { env, out }) => {
    const [verb, deployment] = positionals
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    switch (verb) {
      case 'add': {
        const [workspace, url] = [values.workspace, values['base-url']]
        if (!deployment || !workspace || !url) throw new UsageError(verbs)
        const [model] = values.model
        const { agent } = await api(operations.create, {
          body: {
            name: deployment,
            workspace_uuid: await workspaceNamed(api, workspace),
            deployment: {
              name: deployment,
              url,
              protocol: values.plain ? 'http' : 'openai',
              model,
              api_key_env: values['api-key-env'],
            },
          },
        })
        out(
          values.json
            ? json(agent)
            : `${deployment} of the workspace ${workspace} answers at ${url}.\n`,
        )
        return 0
      }
      case 'list': {
        const found = await allAgents(api)
        const { workspaces: known } = await api(workspaces.list, {})
        const nameOf = (uuid: string | undefined) =>
          known.find((one) => one.uuid === uuid)?.name ?? ''
        const rows = found.map(({ name, deployment, workspace_uuid }) => [
          deployment?.name ?? name,
          nameOf(workspace_uuid),
          deployment?.url ?? '',
          deployment?.model ?? '',
        ])
        out(values.json ? json(found) : table(['deployment', 'workspace', 'url', 'model'], rows))
        return 0
      }
      case 'remove': {
        const found = (await allAgents(api)).find((agent) => agent.deployment?.name === deployment)
        if (!found)
          throw new UsageError(`There is no deployment ${deployment ?? ''}; see cove agents list.`)
        await api(operations.delete, { path: { uuid: found.uuid } })
        out(`${deployment} is removed.\n`)
        return 0
      }
      default:
        throw new UsageError(verbs)
    }
  },
})

const allAgents = async (api: Api) =>
  (await api(operations.list, { query: { per_page: 1000 } })).agents

/** A workspace that is not there yet is made. */
const workspaceNamed = async (api: Api, name: string): Promise<string> => {
  const { workspaces: known } = await api(workspaces.list, {})
  const found = known.find((workspace) => workspace.name === name)
  if (found) return found.uuid
  return (await api(workspaces.create, { body: { name } })).workspace.uuid
}
