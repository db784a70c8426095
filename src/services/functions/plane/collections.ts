import { ApiError } from '#core/error.ts'
import { ActionChange } from '../actions/contract.ts'
import { noPackage } from '../actions/records.ts'
import type { StoredNamespace } from '../namespaces/records.ts'
import { PackageChange } from '../packages/contract.ts'
import type { Access } from './access.ts'
import { type Actions, actionSummary, actionView } from './actions.ts'
import { activationSummary, activationView } from './activation.ts'
import { boundedBody, parseBody, parseJson } from './body.ts'
import { faults } from './faults.ts'
import type { Ground } from './ground.ts'
import type { InvokerFace } from './invoke.ts'
import type { ActionPath } from './names.ts'
import { type Packages, packageSummary, packageView } from './packages.ts'
import { flagOf, numberOf, windowOf } from './query.ts'
import type { Recorder } from './recorder.ts'
import type { Resolve } from './resolve.ts'

export interface FaceParts {
  ground: Ground
  access: Access
  actions: Actions
  packages: Packages
  resolve: Resolve
  recorder: Recorder
  invoke: InvokerFace
  web: (request: Request, parts: string[], transactionId: string) => Promise<Response>
  /** Builds sources that were sent before they are kept. */
  build: (change: ActionChange) => Promise<ActionChange>
}

export interface Asked {
  request: Request
  query: URLSearchParams
  caller: StoredNamespace
  /** The namespace in the path. */
  namespace: string
  rest: string[]
  transactionId: string
}

const mine = ({ caller, namespace }: Asked) => {
  if (namespace !== caller.namespace) throw faults.notYours(namespace)
}

const actionsFace = async (parts: FaceParts, asked: Asked): Promise<Response> => {
  const { request, query, namespace, rest } = asked
  const slash = new URL(request.url).pathname.endsWith('/')
  if (rest.length === 0 || (rest.length === 1 && slash)) return listActions(parts, asked)
  if (rest.length > 2) throw faults.missing()
  const [first = '', second] = rest
  const path: ActionPath = {
    namespace,
    package: second === undefined ? noPackage : first,
    name: second ?? first,
  }
  switch (request.method) {
    case 'GET': {
      const { action, parameters } = await parts.resolve(asked.caller.namespace, path)
      const code = flagOf(query, 'code', true) ? await parts.actions.codeOf(action) : undefined
      return Response.json(actionView(action, parameters, code))
    }
    case 'PUT': {
      mine(asked)
      const change = parseBody(ActionChange, await boundedBody(request, bodyLimit(parts.ground)))
      const built = flagOf(query, 'build') ? await parts.build(change) : change
      const written = await parts.actions.put(path, built, flagOf(query, 'overwrite'))
      return Response.json(actionView(written, written.parameters, built.exec?.code))
    }
    case 'DELETE': {
      mine(asked)
      const removed = await parts.actions.remove(path)
      return Response.json(actionView(removed, removed.parameters))
    }
    case 'POST':
      return invoke(parts, asked, path)
    default:
      throw faults.methodNotAllowed(request.method)
  }
}

/** Code grows by a third in base64, and has the rest of the action beside it. */
const bodyLimit = ({ settings }: Ground) => settings.code * 1.4 + 2 * settings.payload

const listActions = async ({ actions }: FaceParts, asked: Asked) => {
  mine(asked)
  const { query, namespace, rest } = asked
  if (flagOf(query, 'count')) return Response.json({ actions: await actions.count(namespace) })
  const { limit, skip } = windowOf(query, 'actions')
  return Response.json((await actions.list(namespace, rest[0], limit, skip)).map(actionSummary))
}

const invoke = async (parts: FaceParts, asked: Asked, path: ActionPath): Promise<Response> => {
  const { request, query, caller, transactionId } = asked
  const { payload: limit, wait } = parts.ground.settings
  const payload = parseJson(await boundedBody(request, limit))
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw ApiError.badRequest('The request content was malformed:\nObject expected.')
  const timeout = numberOf(query, 'timeout') ?? wait
  if (timeout < 1 || timeout > wait)
    throw ApiError.badRequest(`Timeout must be number of milliseconds up to ${wait}.`)
  const call = { caller, path, payload: payload as Record<string, unknown>, transactionId }
  const done = flagOf(query, 'blocking')
    ? await parts.invoke.call(call, timeout)
    : await parts.invoke.submit(call)
  const headers = { 'x-openwhisk-activation-id': done.activationId }
  if (done.statusCode === undefined)
    return Response.json({ activationId: done.activationId }, { status: 202, headers })
  const status = done.response.success ? 200 : done.statusCode === 3 ? 500 : 502
  const bare = flagOf(query, 'result') || Array.isArray(done.response.result)
  return Response.json(bare ? done.response.result : activationView(done), { status, headers })
}

const packagesFace = async (parts: FaceParts, asked: Asked): Promise<Response> => {
  const { packages } = parts
  const { request, query, namespace, rest, caller } = asked
  const [name] = rest
  if (name === undefined) {
    const own = namespace === caller.namespace
    if (flagOf(query, 'count')) return Response.json({ packages: await packages.count(namespace) })
    const found = await packages.list(
      namespace,
      windowOf(query, 'packages'),
      own && flagOf(query, 'public'),
    )
    return Response.json(found.filter((each) => own || each.publish).map(packageSummary))
  }
  if (rest.length > 1) throw faults.missing()
  const view = async (found: Awaited<ReturnType<Packages['get']>>) =>
    Response.json(
      packageView(
        found,
        await packages.actionsIn(found),
        found.binding ? await packages.get(found.binding.namespace, found.binding.name) : undefined,
      ),
    )
  switch (request.method) {
    case 'GET': {
      const found = await packages.get(namespace, name)
      if (!found.publish) mine(asked)
      return view(found)
    }
    case 'PUT': {
      mine(asked)
      const text = await boundedBody(request, 2 * parts.ground.settings.payload)
      const change = parseBody(PackageChange, text)
      return view(await packages.put(namespace, name, change, flagOf(query, 'overwrite')))
    }
    case 'DELETE': {
      mine(asked)
      const removed = await packages.remove(namespace, name, flagOf(query, 'force'))
      return Response.json(packageView(removed, [], undefined))
    }
    default:
      throw faults.methodNotAllowed(request.method)
  }
}

const activationsFace = async ({ recorder }: FaceParts, asked: Asked): Promise<Response> => {
  mine(asked)
  const { request, query, namespace, rest } = asked
  if (request.method !== 'GET') throw faults.methodNotAllowed(request.method)
  const [id, part] = rest
  if (id === undefined) {
    const docs = flagOf(query, 'docs')
    const counted = flagOf(query, 'count')
    if (docs && counted)
      throw ApiError.badRequest("The parameters 'count' and 'docs' exclude each other.")
    const asks = {
      namespace,
      name: query.get('name') ?? undefined,
      since: numberOf(query, 'since'),
      upto: numberOf(query, 'upto'),
      ...windowOf(query, 'activations'),
    }
    if (counted) return Response.json({ activations: await recorder.count(asks) })
    const found = await recorder.list(asks)
    return Response.json(
      found.map((each) => (docs ? activationView(each) : activationSummary(each))),
    )
  }
  if (!/^[0-9a-f]{32}$/.test(id))
    throw ApiError.badRequest(`The activation id '${id}' is not 32 hexadecimal digits.`)
  const found = await recorder.get(namespace, id)
  if (!found) throw faults.missing()
  if (part === undefined) return Response.json(activationView(found))
  if (part === 'logs') return Response.json({ logs: found.logs })
  if (part === 'result') return Response.json(found.response)
  throw faults.missing()
}

/** What is below a namespace. */
export const collections: Record<string, (parts: FaceParts, asked: Asked) => Promise<Response>> = {
  actions: actionsFace,
  packages: packagesFace,
  activations: activationsFace,
}
