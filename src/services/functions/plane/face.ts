import { ApiError } from '#core/error.ts'
import { collections, type FaceParts } from './collections.ts'
import { faults } from './faults.ts'
import type { Ground } from './ground.ts'
import { describePlane } from './info.ts'
import { forward } from './remote.ts'

/** The data plane's HTTP face: `/api/v1` and below. */
export const createFace = (parts: FaceParts) => {
  const { ground, access, web } = parts

  const handle = async (request: Request, transactionId: string): Promise<Response> => {
    const url = new URL(request.url)
    const path = url.pathname.split('/').slice(3).map(decoded)
    const [area, namespace, kind = '', ...rest] =
      path[path.length - 1] === '' ? path.slice(0, -1) : path
    if (area === undefined) return Response.json(await describePlane(ground))
    if (area === 'web') return web(request, path.slice(1), transactionId)
    const caller = await access.authenticate(request)
    if (area !== 'namespaces') throw faults.missing()
    if (namespace === undefined) return Response.json([caller.namespace])
    if (caller.remote) return forward(ground.fetch, caller, request)
    const collection = collections[kind]
    if (!collection) throw faults.missing()
    const own = namespace === '_' ? caller.namespace : namespace
    return collection(parts, {
      request,
      query: url.searchParams,
      caller,
      namespace: own,
      rest,
      transactionId,
    })
  }

  return async (request: Request): Promise<Response> => {
    const transactionId = ground.ids.uuid().replaceAll('-', '')
    try {
      return await handle(request, transactionId)
    } catch (error) {
      return refusal(ground, error, transactionId)
    }
  }
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw ApiError.badRequest(`The path has a malformed escape: ${part}`)
  }
}

const refusal = ({ log }: Ground, thrown: unknown, code: string): Response => {
  const known = thrown instanceof ApiError
  if (!known)
    log.error('A request of the functions API failed.', {
      code,
      cause: thrown instanceof Error ? thrown.stack : String(thrown),
    })
  const status = known ? thrown.status : 500
  return Response.json(
    { error: known ? thrown.message : 'The server encountered an internal error.', code },
    {
      status,
      headers: {
        ...(status === 401 ? { 'www-authenticate': 'Basic realm="OpenWhisk secure realm"' } : {}),
        ...(known && thrown.retryAfter !== undefined
          ? { 'retry-after': String(Math.ceil(thrown.retryAfter)) }
          : {}),
      },
    },
  )
}
