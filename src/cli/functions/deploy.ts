import type { Api } from '#client/client.ts'
import { callDataPlane, type DataPlaneRequest } from '#client/data-plane.ts'
import { ApiError, messageOf } from '#core/error.ts'
import { accessKeys } from '#services/functions/keys/contract.ts'
import { namespaces } from '#services/functions/namespaces/contract.ts'
import { triggers } from '#services/functions/triggers/contract.ts'
import type { Backend } from '../backend.ts'
import { UsageError } from '../values.ts'
import { pack } from './pack.ts'
import type { Project, ProjectFunction, ProjectPackage } from './project.ts'

export interface Deployment {
  backend: Backend
  api: Api
  namespace: string
  project: Project
  remoteBuild: boolean
  /** Only these: `package` or `package/function`. */
  include: string[]
  say(line: string): void
}

/** What came of each thing; one that failed does not stop the others. */
export interface Deployed {
  what: string
  done?: string
  failed?: string
}

/** The namespace that was named, or the only one there is. */
export const chooseNamespace = async (api: Api, wanted: string | undefined): Promise<string> => {
  if (wanted !== undefined) return wanted
  const { namespaces: all } = await api(namespaces.list, {})
  const [only] = all
  if (only && all.length === 1) return only.namespace
  throw new UsageError(
    all.length === 0
      ? 'There is no namespace yet: make one with functions-create-namespace.'
      : `Say which namespace with --namespace: ${all.map((each) => `${each.namespace} (${each.label})`).join(', ')}.`,
  )
}

export const deploy = async (deployment: Deployment): Promise<Deployed[]> => {
  const { api, namespace, project, include, say } = deployment
  const path = { namespace_id: namespace }
  const { namespace: found } = await api(namespaces.get, { path })
  // A key for the time of this command.
  const name = `cove-deploy-${Date.now().toString(36)}`
  const { access_key: key } = await api(accessKeys.create, {
    path,
    body: { name, expires_in: '1h' },
  })
  const target = { apiHost: found.api_host, user: key.id, password: key.secret }
  const call = (request: Omit<DataPlaneRequest, 'path'> & { path: string[] }) =>
    callDataPlane(async (sent) => deployment.backend.fetch(sent), target, {
      ...request,
      path: [found.namespace, ...request.path],
    })

  const results: Deployed[] = []
  const attempt = async (what: string, work: () => Promise<string>) => {
    const result = await work().then(
      (done): Deployed => ({ what, done }),
      (error: unknown): Deployed => ({ what, failed: messageOf(error) }),
    )
    results.push(result)
    say(`${result.failed ? 'FAILED' : 'ok    '} ${what}: ${result.done ?? result.failed}`)
  }
  const wanted = (pack: string, each?: string) =>
    include.length === 0 || include.includes(pack) || include.includes(`${pack}/${each}`)

  try {
    for (const each of project.packages) {
      const functions = each.functions.filter((one) => wanted(each.name, one.name))
      if (functions.length === 0 && !wanted(each.name)) continue
      if (each.name !== 'default')
        await attempt(`package ${each.name}`, () => putPackage(call, each))
      for (const one of functions) {
        const place = each.name === 'default' ? [one.name] : [each.name, one.name]
        await attempt(`function ${place.join('/')}`, () =>
          putFunction(call, each, one, place, deployment.remoteBuild),
        )
        for (const trigger of one.triggers)
          await attempt(`trigger ${trigger.name}`, () =>
            putTrigger(api, found.namespace, place.join('/'), trigger),
          )
      }
    }
  } finally {
    await api(accessKeys.delete, { path: { ...path, key_id: key.id } })
  }
  return results
}

type Call = (
  request: Omit<DataPlaneRequest, 'path'> & { path: string[] },
) => ReturnType<typeof callDataPlane>

const pairs = (values: Record<string, unknown>, init?: true) =>
  Object.entries(values).map(([key, value]) => ({ key, value, ...(init ? { init } : {}) }))

const versionOf = (body: unknown): string => `version ${(body as { version?: string }).version}`

const putPackage = async (call: Call, each: ProjectPackage): Promise<string> => {
  const { body } = await call({
    method: 'PUT',
    path: ['packages', each.name],
    query: { overwrite: true },
    body: {
      publish: each.shared,
      parameters: [...pairs(each.parameters), ...pairs(each.environment, true)],
      annotations: pairs(each.annotations),
    },
  })
  return versionOf(body)
}

const putFunction = async (
  call: Call,
  package_: ProjectPackage,
  one: ProjectFunction,
  place: string[],
  remote: boolean,
): Promise<string> => {
  const { code, binary, build } = await pack(one, remote)
  const web = one.web !== false
  // A package hands its own down; outside of one there is nobody to do that.
  const own = place.length === 1 ? package_ : { parameters: {}, environment: {} }
  const { body } = await call({
    method: 'PUT',
    path: ['actions', ...place],
    query: { overwrite: true, ...(build ? { build } : {}) },
    body: {
      exec: { kind: one.kind, code, binary, ...(one.main ? { main: one.main } : {}) },
      limits: one.limits,
      parameters: [
        ...pairs({ ...own.parameters, ...one.parameters }),
        ...pairs({ ...own.environment, ...one.environment }, true),
      ],
      annotations: pairs({
        'web-export': web,
        'raw-http': one.web === 'raw',
        final: web,
        ...one.annotations,
      }),
    },
  })
  return versionOf(body)
}

const putTrigger = async (
  api: Api,
  namespace: string,
  name: string,
  {
    name: trigger,
    enabled,
    sourceDetails: { cron, withBody },
  }: ProjectFunction['triggers'][number],
): Promise<string> => {
  const details = { cron, ...(withBody ? { body: withBody } : {}) }
  const path = { namespace_id: namespace, trigger_name: trigger }
  const current = await api(triggers.get, { path }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  if (current?.trigger.function === name) {
    const body = { is_enabled: enabled, scheduled_details: details }
    await api(triggers.update, { path, body })
    return cron
  }
  if (current) await api(triggers.delete, { path })
  const body = {
    name: trigger,
    function: name,
    type: 'SCHEDULED',
    is_enabled: enabled,
    scheduled_details: details,
  }
  await api(triggers.create, { path: { namespace_id: namespace }, body })
  return cron
}
