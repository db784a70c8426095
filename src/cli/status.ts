import { status as operations } from '#services/cove/status/contract.ts'
import { apiOf, findBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'

export const status = command({
  about: 'Say what is running.',
  usage: '',
  settings: ['json', 'token', 'api-url', 'api-token'],
  examples: ['cove status', 'cove status --json'],
  run: async ({ values, home }, { env, out }) => {
    const api = apiOf(await findBackend({ values, home, env }))
    const { unserved: _unserved, ...facts } = await api(operations.get, {})
    if (values.json) {
      out(json(facts))
      return 0
    }
    out(`Cove ${facts.version} at ${facts.url} (pid ${facts.pid}), data in ${facts.home}\n`)
    if (facts.dns) out(`DNS at ${facts.dns.host}:${facts.dns.port}\n`)
    const rows = facts.services.map(({ name, state, enforced, reason }) => [
      name,
      state,
      enforced ? 'enforced' : 'recorded only',
      reason ?? '',
    ])
    if (rows.length > 0) out(table(['service', 'state', 'effect', 'note'], rows))
    return 0
  },
})
