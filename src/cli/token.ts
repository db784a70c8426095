import { tokens } from '#services/cove/tokens/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

export const token = command({
  about: 'Make, list and revoke tokens with limited rights.',
  usage: 'create | list | revoke ID',
  settings: ['scopes', 'name', 'expires-in', 'json', 'token'],
  examples: [
    'cove token create --scopes account:read,database:read',
    'cove token create --scopes genai:read --name reader --expires-in 24h',
    'cove token list',
    'cove token revoke reader',
  ],
  run: async ({ values, home, positionals }, { env, out, err }) => {
    const [verb, id] = positionals
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = async () => apiOf(await openBackend({ values: local, home, env }))
    switch (verb) {
      case 'create': {
        if (values.scopes.length === 0) {
          throw new UsageError(
            '--scopes is missing: say what the token may do, for example account:read.',
          )
        }
        const expires = values['expires-in']
        const { token: made } = await (await api())(tokens.create, {
          body: {
            name: values.name ?? `token-${Date.now().toString(36)}`,
            scopes: values.scopes,
            ...(expires === undefined ? {} : { expires_in_seconds: secondsOf(expires) }),
          },
        })
        err(`Token "${made.name}" may do: ${made.scopes.join(', ')}. It is shown once.\n`)
        out(`${made.secret}\n`)
        return 0
      }
      case 'list': {
        const { tokens: found } = await (await api())(tokens.list, { query: { per_page: 200 } })
        const rows = found.map((t) => [t.name, t.id, t.scopes.join(','), t.expires_at ?? 'never'])
        out(values.json ? json(found) : table(['name', 'id', 'scopes', 'expires'], rows))
        return 0
      }
      case 'revoke': {
        if (!id) throw new UsageError('Say which token to revoke: cove token revoke ID.')
        await (await api())(tokens.revoke, { path: { id } })
        out(`Token ${id} is revoked.\n`)
        return 0
      }
      default:
        throw new UsageError(
          'Say one of: cove token create, cove token list, cove token revoke ID.',
        )
    }
  },
})

const unit = { m: 60, h: 3600, d: 86_400 }

const secondsOf = (text: string): number => {
  const [, count, letter] = /^(\d+)([mhd])$/.exec(text) ?? []
  if (!count || !letter)
    throw new UsageError(`--expires-in must be like 30m, 24h or 7d, not "${text}".`)
  return Number(count) * unit[letter as keyof typeof unit]
}
