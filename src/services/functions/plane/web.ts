import { ApiError } from '#core/error.ts'
import type { StoredActivation } from '../activations/records.ts'
import { storedNamespaces } from '../namespaces/records.ts'
import { boundedBody, parseJson } from './body.ts'
import type { Ground } from './ground.ts'
import type { InvokerFace } from './invoke.ts'
import { checkName, parseActionPath } from './names.ts'
import { annotation, isTrue } from './parameters.ts'
import type { Resolve, Resolved } from './resolve.ts'

const extensions = ['.json', '.html', '.http', '.text', '.svg'] as const
type Extension = (typeof extensions)[number]

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'OPTIONS, GET, DELETE, POST, PUT, HEAD, PATCH',
  'access-control-allow-headers': 'Authorization, Origin, X-Requested-With, Content-Type, Accept',
}

/** Actions that are exported to the web: plain HTTP in, plain HTTP out. */
export const createWeb = (ground: Ground, resolve: Resolve, invoke: InvokerFace) => {
  const namespaces = ground.store.collection(storedNamespaces)
  const missing = () => new ApiError(404, 'The requested resource does not exist.')

  /** `/{namespace}/{package}/{name}[.ext][/rest]` */
  return async (request: Request, parts: string[], transactionId: string): Promise<Response> => {
    const [namespace = '', pack = '', last = '', ...rest] = parts
    const caller = await namespaces.get(namespace)
    if (!caller || !pack || !last) throw missing()
    const { name, extension } = splitName(last)
    const path = parseActionPath(`/${namespace}/${pack}/${checkName(name)}`, namespace)
    const resolved = await resolve(namespace, path).catch(() => undefined)
    if (!resolved || !isTrue(annotation(resolved.action.annotations, 'web-export'))) throw missing()
    checkAuth(resolved, request)
    const custom = isTrue(annotation(resolved.action.annotations, 'web-custom-options'))
    if (request.method === 'OPTIONS' && !custom) return new Response(null, { headers: cors })

    const payload = await payloadOf(ground, resolved, request, rest)
    const done = await invoke.call({ caller, path, payload, transactionId }, ground.settings.wait)
    const headers: Record<string, string> = {
      ...(custom ? {} : cors),
      'x-openwhisk-activation-id': done.activationId,
    }
    if (done.statusCode === undefined)
      return Response.json(
        { error: 'Response not yet ready.', code: transactionId },
        { status: 202, headers },
      )
    return answer(done, extension, headers, transactionId)
  }
}

const splitName = (last: string): { name: string; extension: Extension } => {
  const extension = extensions.find((ending) => last.endsWith(ending))
  return extension
    ? { name: last.slice(0, -extension.length), extension }
    : { name: last, extension: '.http' }
}

const checkAuth = ({ action }: Resolved, request: Request) => {
  const required = annotation(action.annotations, 'require-whisk-auth')
  if (required === undefined || required === false) return
  if (request.headers.get('x-require-whisk-auth') !== String(required))
    throw ApiError.unauthorized(
      'Authentication is possible but has failed or not yet been provided.',
    )
}

const payloadOf = async (
  ground: Ground,
  { action, parameters }: Resolved,
  request: Request,
  rest: string[],
): Promise<Record<string, unknown>> => {
  const url = new URL(request.url)
  const text = await boundedBody(request, ground.settings.payload)
  const context = {
    __ow_method: request.method.toLowerCase(),
    __ow_headers: Object.fromEntries(request.headers),
    __ow_path: rest.length > 0 ? `/${rest.join('/')}` : '',
  }
  if (isTrue(annotation(action.annotations, 'raw-http')))
    return { ...context, __ow_query: url.search.slice(1), __ow_body: text }
  const given = { ...Object.fromEntries(url.searchParams), ...bodyParameters(request, text) }
  const locked = parameters.filter(({ key }) => key in given).map(({ key }) => key)
  const reserved = Object.keys(given).filter((key) => key.startsWith('__ow_'))
  if (locked.length > 0 || reserved.length > 0)
    throw ApiError.badRequest(
      'Request defines parameters that are not allowed (e.g., reserved properties).',
    )
  return { ...given, ...context }
}

const bodyParameters = (request: Request, text: string): Record<string, unknown> => {
  if (text === '') return {}
  const type = request.headers.get('content-type') ?? ''
  if (type.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(text))
  if (!type.includes('json')) return { __ow_body: text }
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  return { value }
}

const answer = (
  { response, statusCode }: StoredActivation,
  extension: Extension,
  headers: Record<string, string>,
  code: string,
): Response => {
  const { result } = response
  if (statusCode >= 2)
    return Response.json(
      { error: 'There was an error processing your request.', code },
      { status: 502, headers },
    )
  if (statusCode === 1) return failed(result, headers)
  if (extension === '.http') return http(result, headers)
  const key = extension.slice(1)
  const part =
    extension === '.json' ? result : ((result as Record<string, unknown>)[key] ?? undefined)
  if (part === undefined)
    return Response.json(
      { error: `Response is not valid '${key}'.`, code },
      { status: 400, headers },
    )
  if (extension === '.json') return Response.json(part, { headers })
  return new Response(typeof part === 'string' ? part : JSON.stringify(part), {
    headers: { ...headers, 'content-type': textTypes[extension] },
  })
}

const textTypes: Record<Exclude<Extension, '.json' | '.http'>, string> = {
  '.html': 'text/html; charset=UTF-8',
  '.text': 'text/plain; charset=UTF-8',
  '.svg': 'image/svg+xml; charset=UTF-8',
}

/** `{ error: { statusCode, headers, body } }` is an answer the action chose itself. */
const failed = (result: unknown, headers: Record<string, string>): Response => {
  const { error } = (result ?? {}) as { error?: unknown }
  return typeof error === 'object' && error !== null && 'statusCode' in error
    ? http(error, headers)
    : Response.json(result, { status: 400, headers })
}

/** `{ statusCode, headers, body }`; a binary body comes in base64. */
const http = (result: unknown, headers: Record<string, string>): Response => {
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    return Response.json(result, { headers })
  const { statusCode, headers: given, body } = result as Record<string, unknown>
  if (statusCode === undefined && given === undefined && body === undefined)
    return Response.json(result, { headers })
  const all = new Headers(headers)
  for (const [name, value] of Object.entries((given ?? {}) as Record<string, unknown>))
    for (const each of Array.isArray(value) ? value : [value]) all.append(name, String(each))
  const status = Number(statusCode ?? (body === undefined || body === '' ? 204 : 200))
  if (!Number.isInteger(status) || status < 200 || status > 599)
    return Response.json(
      { error: `statusCode ${statusCode} is not an HTTP status.` },
      { status: 400, headers },
    )
  if (body === undefined || body === '' || status === 204 || status === 304)
    return new Response(null, { status, headers: all })
  const type = all.get('content-type')
  if (typeof body !== 'string') {
    if (!type) all.set('content-type', 'application/json')
    return new Response(JSON.stringify(body), { status, headers: all })
  }
  if (!type) all.set('content-type', 'text/html; charset=UTF-8')
  const binary = type && !/^(text\/|application\/(json|xml|javascript|x-www-form))/.test(type)
  return new Response(binary && isBase64(body) ? Buffer.from(body, 'base64') : body, {
    status,
    headers: all,
  })
}

const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0
