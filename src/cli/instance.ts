import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Api } from '#client/client.ts'
import { droplets } from '#services/compute/droplets/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

export const instance = command({
  about: 'Make, list and delete instances, and run programs in their networks.',
  usage: 'create NAME | list | delete ID | exec ID -- COMMAND…',
  settings: ['json', 'token'],
  examples: [
    'cove instance create web-1',
    'cove instance list',
    'cove instance exec 1 -- python3 -m http.server 80',
  ],
  run: async ({ values, home, positionals }, { env, out }) => {
    const [verb, what = '', ...program] = positionals
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    const show = (found: Instance[]) =>
      out(
        values.json
          ? json(found)
          : table(['id', 'name', 'status', 'region', 'addresses'], found.map(row)),
      )

    if (verb === 'list') {
      show((await api(droplets.list, { query: { per_page: 200 } })).droplets)
      return 0
    }
    if (verb === 'create' && what) {
      const { droplet } = await api(droplets.create, { body: { name: what } })
      show([droplet])
      return 0
    }
    if (verb === 'delete' && what) {
      await api(droplets.delete, { path: { id: what } })
      return 0
    }
    if (verb === 'exec' && what && program.length > 0) return execute(api, what, program, env)
    throw new UsageError(
      'Say "cove instance create NAME", "list", "delete ID" or "exec ID -- COMMAND…".',
    )
  },
})

type Instance = Awaited<ReturnType<typeof droplets.get.returns.parse>>['droplet']

const row = ({ id, name, status, region, networks: { v4, v6 } }: Instance): string[] => [
  String(id),
  name,
  status,
  region.slug,
  [...v4, ...v6].map((each) => `${each.ip_address} (${each.type})`).join(' '),
]

/** Runs a program as if it were this one: its input, its output, its exit status. */
const execute = async (
  api: Api,
  id: string,
  program: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> => {
  const { command: entry } = await api(droplets.entry, { path: { id } })
  const [first = '', ...args] = [...entry, ...program]
  return new Promise((resolve, reject) => {
    const child = spawn(first, args, { stdio: 'inherit', env })
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
}
