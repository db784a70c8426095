import { ApiError, messageOf } from '#core/error.ts'
import type { StoredNamespace } from '../namespaces/records.ts'

/**
 * A namespace of a cluster elsewhere: requests go there as they are, with the cluster's own
 * credentials. So keys, their expiry and schedules stay with Cove, and every client works on both.
 */
export const forward = async (
  fetch: (request: Request) => Promise<Response>,
  { remote, key, namespace }: StoredNamespace,
  request: Request,
): Promise<Response> => {
  if (!remote) throw new Error(`${namespace} is not on a cluster elsewhere.`)
  const url = new URL(request.url)
  const path = url.pathname.replace(/^(\/api\/v1\/namespaces\/)[^/]+/, '$1_')
  const headers = new Headers(request.headers)
  for (const name of ['host', 'connection', 'content-length', 'authorization']) headers.delete(name)
  headers.set('authorization', `Basic ${Buffer.from(`${remote.user}:${key}`).toString('base64')}`)
  const body = request.method === 'GET' || request.method === 'HEAD' ? null : await request.text()
  try {
    const answer = await fetch(
      new Request(remote.api_host.replace(/\/+$/, '') + path + url.search, {
        method: request.method,
        headers,
        ...(body === null || body === '' ? {} : { body }),
      }),
    )
    const kept = new Headers(answer.headers)
    for (const name of ['content-encoding', 'content-length', 'transfer-encoding'])
      kept.delete(name)
    return new Response(answer.body, { status: answer.status, headers: kept })
  } catch (error) {
    const cause = error instanceof Error && error.cause ? error.cause : error
    throw ApiError.unavailable(
      `${remote.api_host} could not be reached: ${messageOf(cause)}.`,
      error,
    )
  }
}
