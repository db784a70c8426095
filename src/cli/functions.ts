import { resolve } from 'node:path'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { chooseNamespace, deploy } from './functions/deploy.ts'
import { readProject } from './functions/project.ts'
import { json } from './table.ts'
import { UsageError } from './values.ts'

export const functions = command({
  about: 'Deploy a project of functions: several files, dependencies, builds and schedules.',
  usage: 'deploy DIR',
  settings: ['namespace', 'remote-build', 'include', 'json', 'token', 'api-url', 'api-token'],
  examples: [
    'cove functions deploy my-project',
    'cove functions deploy my-project --namespace fn-5f3c1a2b-… --remote-build',
    'cove functions deploy my-project --include tools/hello',
  ],
  run: async ({ values, home, positionals }, { env, out }) => {
    const [verb, dir] = positionals
    if (verb !== 'deploy' || dir === undefined)
      throw new UsageError('Say which project: cove functions deploy DIR.')
    const project = readProject(resolve(dir), env)
    const backend = await openBackend({ values, home, env })
    const api = apiOf(backend)
    const namespace = await chooseNamespace(api, values.namespace)
    const results = await deploy({
      backend,
      api,
      namespace,
      project,
      remoteBuild: values['remote-build'],
      include: values.include,
      say: (line) => {
        if (!values.json) out(`${line}\n`)
      },
    })
    if (values.json) out(json({ namespace, results }))
    return results.some(({ failed }) => failed !== undefined) ? 1 : 0
  },
})
