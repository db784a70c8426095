import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { hashOf, normalScope, type StoredToken, storedTokens } from '#platform/tokens.ts'
import { tokens } from './contract.ts'

/** `scopes`: every scope that an operation asks for. */
export const tokenService =
  (scopes: () => ReadonlySet<string>): Service =>
  (on, { store, clock, ids }) => {
    const table = store.collection(storedTokens)

    on(tokens.list, async ({ query }) => {
      const page = await pageOf('tokens', table, query)
      return { ...page, tokens: page.tokens.map(withoutHash) }
    })

    on(tokens.create, async ({ body }) => {
      const wanted = body.scopes.map(normalScope)
      for (const scope of wanted) checkScope(scope, scopes())
      if (body.name === 'owner' || (await table.find({ name: body.name }))) {
        throw ApiError.invalid(`A token named "${body.name}" exists already; choose another name.`)
      }
      const secret = `cove_v1_${ids.secret(32)}`
      const expires = body.expires_in_seconds
      const token: StoredToken = {
        hash: hashOf(secret),
        id: ids.uuid(),
        name: body.name,
        scopes: wanted,
        created_at: timestamp(clock),
        expires_at:
          expires === undefined ? null : new Date(clock.now() + expires * 1000).toISOString(),
      }
      await table.insert(token)
      return { token: { ...withoutHash(token), secret } }
    })

    on(tokens.revoke, async ({ path }) => {
      const token = (await table.find({ id: path.id })) ?? (await table.find({ name: path.id }))
      if (!token) throw ApiError.notFound(`Token ${path.id}`)
      await table.remove(token.hash)
    })
  }

const withoutHash = ({ hash: _hash, ...facts }: StoredToken) => ({
  ...facts,
  scopes: [...facts.scopes],
})

/** `database:create` as operations ask for it, `database:write` as a group, `*` for everything. */
const checkScope = (scope: string, known: ReadonlySet<string>) => {
  const resources = new Set([...known].map((each) => each.split(':')[0]))
  const [resource, act] = scope.split(':')
  const group =
    (act === 'read' || act === 'write') &&
    (resources.has(resource) || !resource || resource === '*')
  if (scope === '*' || known.has(scope) || group) return
  const near = [...known].filter((each) => each.startsWith(`${resource}:`))
  const valid =
    near.length > 0 ? [...near, `${resource}:write`] : [...resources].map((r) => `${r}:read`)
  throw ApiError.invalid(
    `scopes has "${scope}", which no operation asks for. Valid: ${valid.sort().join(', ')}.`,
  )
}
