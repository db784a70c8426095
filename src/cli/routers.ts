import { routers as operations, type RouteStats } from '#services/genai/routers/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

export const routers = command({
  about: 'What inference routers did: requests, tokens, cost and time by task and model.',
  usage: 'stats [NAME]',
  settings: ['json', 'token'],
  examples: ['cove routers stats', 'cove routers stats support-router --json'],
  run: async ({ values, home, positionals }, { env, out }) => {
    const [verb, router] = positionals
    if (verb !== 'stats' || positionals.length > 2) {
      throw new UsageError('Say: cove routers stats [NAME].')
    }
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    const { stats } = await api(operations.stats, { query: router ? { router } : {} })
    if (values.json) out(json(stats))
    else if (stats.length === 0) out('Nothing was asked yet.\n')
    else out(table(headings, stats.map(rowOf)))
    return 0
  },
})

const headings = [
  'router',
  'task',
  'model',
  'asked',
  'failed',
  'tokens in',
  'tokens out',
  'usd',
  'first token p50/p95 ms',
  'total p50/p95 ms',
]

const rowOf = (stats: RouteStats): string[] => [
  stats.router || '(direct)',
  stats.task || '-',
  `${stats.provider}/${stats.model}`,
  String(stats.requests),
  String(stats.failures),
  String(stats.input_tokens),
  String(stats.output_tokens),
  stats.cost.toFixed(4),
  spread(stats.first_token_ms),
  spread(stats.total_ms),
]

const spread = (times: RouteStats['total_ms']): string =>
  times ? `${times.p50}/${times.p95}` : '-'
