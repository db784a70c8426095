import type { Api } from '#client/client.ts'
import { type DeclaredModel, type Provider, providers } from '#services/genai/providers/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

const usage =
  'Say one of: cove models add PROVIDER --base-url URL, cove models list, cove models remove PROVIDER [--model ID].'

export const models = command({
  about: 'Name OpenAI-compatible providers and the models they serve.',
  usage: 'add PROVIDER | list | remove PROVIDER',
  settings: [
    'base-url',
    'api-key-env',
    'model',
    'price-in',
    'price-out',
    'context-window',
    'max-concurrency',
    'json',
    'token',
  ],
  examples: [
    'cove models add ollama --base-url http://127.0.0.1:11434/v1',
    'cove models add acme --base-url https://api.acme.example/v1 --api-key-env ACME_API_KEY --model acme-large --price-in 2.5 --price-out 10',
    'cove models list',
    'cove models remove acme --model acme-large',
  ],
  run: async ({ values, home, positionals }, { env, out, err }) => {
    const [verb, name] = positionals
    const connect = async () => {
      const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
      return apiOf(await openBackend({ values: local, home, env }), (note) => err(`${note}\n`))
    }
    if (verb === 'list') return print(await connect(), values.json, out)
    if (!name || positionals.length > 2) throw new UsageError(usage)
    if (verb === 'add') {
      const shared = {
        price_in: priceOf('--price-in', values['price-in']),
        price_out: priceOf('--price-out', values['price-out']),
        context_window: values['context-window'],
        max_concurrency: values['max-concurrency'],
      }
      const declared: DeclaredModel[] = values.model.map((id) => ({ id, ...shared }))
      if (declared.length === 0 && Object.values(shared).some((value) => value !== undefined)) {
        throw new UsageError('Prices and limits are of a model: say which with --model ID.')
      }
      const { provider } = await (await connect())(providers.put, {
        path: { name },
        body: {
          base_url: values['base-url'],
          api_key_env: values['api-key-env'],
          ...(declared.length > 0 ? { models: declared } : {}),
        },
      })
      out(values.json ? json(provider) : rows([provider]))
      return 0
    }
    if (verb !== 'remove') throw new UsageError(usage)
    const api = await connect()
    if (values.model.length === 0) await api(providers.delete, { path: { name } })
    for (const id of values.model) {
      await api(providers.deleteModel, { path: { name }, query: { id } })
    }
    out(`${values.model.map((id) => `${name}/${id}`).join(', ') || name} is removed.\n`)
    return 0
  },
})

const print = async (api: Api, asJson: boolean, out: (text: string) => void) => {
  const { providers: found } = await api(providers.list, {})
  if (asJson) out(json(found))
  else if (found.length > 0) out(rows(found))
  else out('No model is known yet. Name a provider: cove models add PROVIDER --base-url URL\n')
  return 0
}

const rows = (found: readonly Provider[]): string =>
  table(
    ['provider', 'model', 'kind', 'usd in', 'usd out', 'context', 'health'],
    found.flatMap(({ name, models: each, api_key_present, api_key_env }) =>
      each.map((model) => [
        name,
        model.id,
        model.kind,
        String(model.price_in ?? '-'),
        String(model.price_out ?? '-'),
        String(model.context_window ?? '-'),
        api_key_present ? model.health : `${api_key_env} is not set`,
      ]),
    ),
  )

const priceOf = (flag: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new UsageError(`${flag} must be US dollars for a million tokens, like 2.5, not "${text}".`)
}
