import { ApiError } from '#core/error.ts'
import { wireError } from '#platform/app.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { hashOf, storedTokens } from '#platform/tokens.ts'
import { consoleLinks } from './contract.ts'

const linkLifetime = 10 * 60_000
const sessionLifetime = 12 * 3_600_000

/**
 * Signs browsers in: a link carries a code that works once and briefly; the page exchanges it for a
 * token of its own, which it sends as a bearer token, so that no other site can use it.
 */
export const consoleService: Service = (on, { store, clock, ids, route }) => {
  const codes = new Map<string, number>()

  on(consoleLinks.create, ({ origin }) => {
    for (const [code, until] of codes) if (until <= clock.now()) codes.delete(code)
    const code = ids.secret(24)
    const expires = clock.now() + linkLifetime
    codes.set(hashOf(code), expires)
    return { url: `${origin}/#code=${code}`, expires_at: new Date(expires).toISOString() }
  })

  route('/console/session', async (request) => {
    const refuse = (error: ApiError) => wireError(error, ids.uuid())
    if (request.method !== 'POST') return refuse(new ApiError(405, 'Sign in with POST.'))
    const { code } = (await request.json().catch(() => ({}))) as { code?: unknown }
    const hash = hashOf(String(code))
    const until = codes.get(hash)
    codes.delete(hash)
    if (until === undefined || until <= clock.now()) {
      return refuse(
        ApiError.unauthorized('This link was used or is too old. "cove console" makes a new one.'),
      )
    }
    const secret = `cove_v1_${ids.secret(32)}`
    await store.collection(storedTokens).insert({
      hash: hashOf(secret),
      id: ids.uuid(),
      name: `console ${timestamp(clock)} ${ids.secret(3)}`,
      scopes: ['*'],
      created_at: timestamp(clock),
      expires_at: new Date(clock.now() + sessionLifetime).toISOString(),
    })
    return Response.json({ token: secret })
  })
}
