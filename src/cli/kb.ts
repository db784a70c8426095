import { resolve } from 'node:path'
import type { Api } from '#client/client.ts'
import { ApiError } from '#core/error.ts'
import { indexingJobs } from '#services/genai/indexing-jobs/contract.ts'
import { dataSources, knowledgeBases } from '#services/genai/knowledge-bases/contract.ts'
import { apiOf, type Backend, openBackend } from './backend.ts'
import { command, type Terminal } from './command.ts'
import { followJob } from './kb-progress.ts'
import { searchBase } from './kb-search.ts'
import { json, table } from './table.ts'
import { UsageError, type Values } from './values.ts'

const settingNames = [
  ...(['alpha', 'filter', 'results', 'meta'] as const),
  ...(['embed-url', 'embed-model', 'embed-key-env', 'json', 'token'] as const),
] as const

type KbValues = Values<(typeof settingNames)[number]>

interface Job {
  api: Api
  backend: Backend
  values: KbValues
  terminal: Terminal
}

export const kb = command({
  about: 'Make, search and keep up knowledge bases of documents.',
  usage: 'create NAME PATH… | list | show NAME | search NAME QUERY | sync NAME | delete NAME',
  settings: settingNames,
  examples: [
    'cove kb create handbook ./docs',
    'cove kb create notes ~/notes --meta team=platform,year=2026',
    'cove kb search handbook "how do I reset a password"',
    `cove kb search handbook refund --alpha 0 --filter '{"equals":{"key":"source_name","value":"faq.md"}}'`,
    'cove kb sync handbook',
    'cove kb delete handbook',
  ],
  run: async ({ values, home, positionals }, terminal) => {
    const [verb = '', name, ...rest] = positionals
    const act = verbs[verb]
    if (!act)
      throw new UsageError(
        `Say one of: ${Object.keys(verbs)
          .map((one) => `cove kb ${one}`)
          .join(', ')}.`,
      )
    if (!name && verb !== 'list')
      throw new UsageError(`Say which knowledge base: cove kb ${verb} NAME.`)
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const backend = await openBackend({ values: local, home, env: terminal.env })
    return act({ api: apiOf(backend), backend, values, terminal }, name ?? '', rest)
  },
})

type Verb = (job: Job, name: string, rest: readonly string[]) => Promise<number>

const verbs: Record<string, Verb> = {
  create: async ({ api, values, terminal }, name, paths) => {
    if (paths.length === 0)
      throw new UsageError('Say which folders or files to read: cove kb create NAME PATH….')
    const metadata = fieldsOf(values.meta)
    const { knowledge_base: base } = await api(knowledgeBases.create, {
      body: {
        name,
        datasources: paths.map((path) => ({
          local_folder_data_source: { path: resolve(path) },
          ...(Object.keys(metadata).length > 0 && { metadata }),
        })),
        ...endpointOf(values),
      },
    })
    const status = await followJob(api, base.last_indexing_job?.uuid ?? '', terminal)
    if (values.json) terminal.out(json(await show(api, base.uuid)))
    else
      terminal.out(
        `Knowledge base "${name}" is ${base.uuid}.\nSearch it: cove kb search ${name} "…"\n`,
      )
    return status
  },

  list: async ({ api, values, terminal }) => {
    const bases = await allBases(api)
    const rows = bases.map((base) => [
      base.name,
      base.uuid,
      said(base.last_indexing_job?.status),
      base.updated_at,
    ])
    terminal.out(values.json ? json(bases) : table(['name', 'id', 'indexing', 'updated'], rows))
    return 0
  },

  show: async ({ api, values, terminal }, name) => {
    const base = await findBase(api, name)
    const shown = await show(api, base.uuid)
    if (values.json) {
      terminal.out(json(shown))
      return 0
    }
    const rows = shown.data_sources.map((source) => {
      const job = source.last_datasource_indexing_job
      return [
        source.local_folder_data_source?.path ??
          source.file_upload_data_source?.original_file_name ??
          '',
        source.uuid,
        job ? `${job.indexed_file_count} of ${job.total_file_count}` : 'not yet',
        job?.completed_at ?? '',
      ]
    })
    terminal.out(
      `${shown.name}  ${shown.uuid}\nmodel     ${shown.embedding_endpoint?.model ?? 'all-MiniLM-L6-v2 (built in)'}\nindexing  ${said(shown.last_indexing_job?.status)}\n\n`,
    )
    terminal.out(table(['source', 'id', 'files indexed', 'at'], rows))
    return 0
  },

  search: async ({ api, backend, values, terminal }, name, words) => {
    const query = words.join(' ')
    if (!query) throw new UsageError('Say what to look for: cove kb search NAME QUERY.')
    const base = await findBase(api, name)
    const found = await searchBase(backend, {
      knowledge_base_id: base.uuid,
      query,
      num_results: values.results,
      ...(values.alpha !== undefined && { alpha: numberOf('--alpha', values.alpha) }),
      ...(values.filter !== undefined && { filters: filterOf(values.filter) }),
    })
    terminal.out(values.json ? json(found.structured) : `${found.text}\n`)
    return 0
  },

  sync: async ({ api, values, terminal }, name) => {
    const base = await findBase(api, name)
    const { job } = await api(indexingJobs.start, { body: { knowledge_base_uuid: base.uuid } })
    const status = await followJob(api, job.uuid, terminal)
    if (values.json) terminal.out(json(await show(api, base.uuid)))
    return status
  },

  delete: async ({ api, terminal }, name) => {
    const base = await findBase(api, name)
    await api(knowledgeBases.delete, { path: { uuid: base.uuid } })
    terminal.out(`Knowledge base "${base.name}" is deleted.\n`)
    return 0
  },
}

const allBases = async (api: Api) =>
  (await api(knowledgeBases.list, { query: { per_page: 1000 } })).knowledge_bases

/** By name or id. */
const findBase = async (api: Api, name: string) => {
  const base = (await allBases(api)).find((one) => one.name === name || one.uuid === name)
  if (!base) throw ApiError.notFound(`Knowledge base "${name}"`)
  return base
}

const show = async (api: Api, uuid: string) => {
  const { knowledge_base } = await api(knowledgeBases.get, { path: { uuid } })
  const { knowledge_base_data_sources } = await api(dataSources.list, {
    path: { knowledge_base_uuid: uuid },
    query: { per_page: 1000 },
  })
  return { ...knowledge_base, data_sources: knowledge_base_data_sources }
}

/** `INDEX_JOB_STATUS_NO_CHANGES` as a person says it. */
const said = (status: string | undefined): string =>
  status?.replace('INDEX_JOB_STATUS_', '').replaceAll('_', ' ').toLowerCase() ?? 'never'

const endpointOf = (values: KbValues) => {
  const { 'embed-url': url, 'embed-model': model, 'embed-key-env': keyName } = values
  if (url === undefined && model === undefined) return {}
  if (url === undefined || model === undefined)
    throw new UsageError('--embed-url and --embed-model belong together.')
  return {
    embedding_endpoint: { base_url: url, model, ...(keyName && { api_key_env: keyName }) },
  }
}

const fieldsOf = (pairs: readonly string[]): Record<string, string | number> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--meta must be like team=platform, not "${pair}".`)
      const value = pair.slice(at + 1)
      return [pair.slice(0, at), /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]
    }),
  )

const numberOf = (flag: string, text: string): number => {
  const number = Number(text)
  if (text.trim() === '' || Number.isNaN(number))
    throw new UsageError(`${flag} must be a number, not "${text}".`)
  return number
}

const filterOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(
      '--filter must be JSON, for example {"equals":{"key":"team","value":"a"}}.',
    )
  }
}
