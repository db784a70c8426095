import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { droplets } from '#services/compute/droplets/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

export const instance = command({
  about: 'List instances, and run a program in the network of one, with the files of this machine.',
  usage: 'list | exec ID -- COMMAND…',
  settings: ['json', 'token'],
  examples: ['cove instance list', 'cove instance exec 3 -- python3 -m http.server 80'],
  run: async ({ values, home, positionals }, { env, out }) => {
    const [verb, id = '', ...program] = positionals
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    if (verb === 'list') {
      const { droplets: all } = await api(droplets.list, { query: { per_page: 200 } })
      const rows = all.map((each) => [
        String(each.id),
        each.name,
        each.status,
        each.region.slug,
        [...each.networks.v4, ...each.networks.v6].map((n) => n.ip_address).join(' '),
      ])
      out(values.json ? json(all) : table(['id', 'name', 'status', 'region', 'addresses'], rows))
      return 0
    }
    if (verb !== 'exec' || !/^\d+$/.test(id) || program.length === 0) {
      throw new UsageError('Say "cove instance list" or "cove instance exec ID -- COMMAND…".')
    }
    const entry = await api(droplets.entry, { path: { id } })
    return execute([...entry.command, ...program], env)
  },
})

/** Runs a program as if it were this one: its input, its output, its exit status. */
const execute = ([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) =>
  new Promise<number>((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env })
    const pass = (signal: NodeJS.Signals) => void child.kill(signal)
    process.on('SIGINT', pass)
    process.on('SIGTERM', pass)
    child.once('error', reject)
    child.once('exit', (status, signal) => {
      process.off('SIGINT', pass)
      process.off('SIGTERM', pass)
      resolve(status ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
