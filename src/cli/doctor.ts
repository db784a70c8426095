import { status as operations } from '#services/cove/status/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'

export const doctor = command({
  about: 'Say what this machine can make real, and the command that enables the rest.',
  usage: '',
  settings: ['json', 'token'],
  examples: ['cove doctor', 'cove doctor --json'],
  run: async ({ values, home }, { env, out }) => {
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    const { services, unserved } = await api(operations.get, {})
    if (values.json) {
      out(json({ services, unserved }))
      return 0
    }
    const rows = services.map(({ name, enforced, reason, fix }) => [
      name,
      enforced ? 'real' : 'recorded only',
      reason ?? '',
      fix ?? '',
    ])
    out(table(['service', 'effect', 'why', 'enable with'], rows))
    if (unserved.length > 0) {
      out(`\nNot served by this Cove yet (${unserved.length}):\n  ${unserved.join('\n  ')}\n`)
    }
    return 0
  },
})
