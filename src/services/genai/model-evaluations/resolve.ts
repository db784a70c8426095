import { ApiError } from '#core/error.ts'
import type { ToolContext } from '#mcp/tool.ts'
import { customModels, models } from '../models/contract.ts'
import { routers } from '../routers/contract.ts'
import type { CandidateSource } from './contract.ts'

/** A model that a name or a uuid stands for. */
export interface FoundModel {
  uuid: string
  display_name: string
  /** What the API wants to hear. */
  api_name: string
  source: CandidateSource
  /** US dollars for a million tokens, where they are known. */
  price_in?: number
  price_out?: number
}

/** The answer to a name that is only a part of one, or of several. */
export interface Selection {
  message: string
  role: Role
  query: string
  query_field: string
  matches: { uuid: string; display_name: string; api_name: string }[]
}

type Role = 'candidate' | 'judge'

export const modelOperations = [models.list, customModels.list, routers.list]

/** Every model that can be evaluated, or can judge; read once for both roles. */
export const knownModels = async (context: ToolContext): Promise<FoundModel[]> => [
  ...(await customOnes(context)),
  ...(await catalogued(context)),
]

export const resolveModel = async (
  context: ToolContext,
  known: readonly FoundModel[],
  wish: { role: Role; name?: string | undefined; uuid?: string | undefined },
): Promise<FoundModel | Selection> => {
  const { role, name, uuid } = wish
  if (uuid !== undefined) {
    const found = known.find((model) => model.uuid === uuid)
    if (found && (name === undefined || isNamed(found, name))) return found
    throw ApiError.invalid(
      found
        ? `${role}_model_uuid ${uuid} is ${found.display_name}, but ${role}_model_name says ${name}`
        : `${role}_model_uuid ${uuid} is no model of this account`,
    )
  }
  if (name === undefined) throw ApiError.invalid(`${role}_model_name is required`)
  const all = name.startsWith('router:') ? await routerModels(context) : known
  const exact = all.filter((model) => isNamed(model, name))
  if (exact.length === 1 && exact[0]) return exact[0]
  const part = name.toLowerCase()
  const matches = exact.length > 1 ? exact : all.filter((model) => spelled(model).includes(part))
  if (matches.length === 0) throw ApiError.invalid(noMatch(role, name, all))
  return {
    message: `"${name}" is not the exact name of one model. Call again with one of the matches.`,
    role,
    query: name,
    query_field: `${role}_model_name`,
    matches: matches.map(({ uuid, display_name, api_name }) => ({ uuid, display_name, api_name })),
  }
}

export const isSelection = (found: FoundModel | Selection): found is Selection => 'matches' in found

/** The fields of a new run that say who answers. */
export const candidateOf = (candidate: FoundModel) => ({
  candidate_model_name: candidate.api_name,
  candidate_model_uuid: candidate.uuid,
  candidate_model_source: candidate.source,
})

const isNamed = ({ api_name, display_name }: FoundModel, name: string): boolean =>
  api_name === name || display_name === name

const spelled = ({ api_name, display_name }: FoundModel): string =>
  `${api_name}\n${display_name}`.toLowerCase()

const noMatch = (role: Role, name: string, all: readonly FoundModel[]): string => {
  const some = all.slice(0, 10).map((model) => model.api_name)
  const known = some.length > 0 ? `known are ${some.join(', ')}` : 'this account has no model yet'
  return `${role}_model_name "${name}" matches no model; ${known}${all.length > 10 ? ' and more' : ''}`
}

const catalogued = async ({ api }: ToolContext): Promise<FoundModel[]> => {
  const found = await allPages(async (page) => {
    const answer = await api(models.list, { query: { page, per_page: 200 } })
    return { items: answer.models, pages: answer.meta?.pages ?? 1 }
  })
  return found.map(({ uuid, id, name, pricing }) => ({
    uuid,
    display_name: name,
    api_name: id || name,
    source: 'CANDIDATE_MODEL_SOURCE_SERVERLESS',
    ...(pricing?.input_price_per_million !== undefined && {
      price_in: pricing.input_price_per_million,
    }),
    ...(pricing?.output_price_per_million !== undefined && {
      price_out: pricing.output_price_per_million,
    }),
  }))
}

/** Not every account may see imported models; the catalogue does without them. */
const customOnes = async ({ api, note }: ToolContext): Promise<FoundModel[]> => {
  try {
    const found = await allPages(async (page) => {
      const answer = await api(customModels.list, { query: { page, per_page: 100 } })
      return { items: answer.models, pages: answer.meta?.pages ?? 1 }
    })
    return found.map(({ uuid, name }) => ({
      uuid,
      display_name: name,
      api_name: name,
      source: 'CANDIDATE_MODEL_SOURCE_DEDICATED',
    }))
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 501].includes(error.status)) throw error
    note(`Imported models were not searched: ${error.message}`)
    return []
  }
}

const routerModels = async ({ api }: ToolContext): Promise<FoundModel[]> => {
  const found = await allPages(async (page) => {
    const answer = await api(routers.list, { query: { page, per_page: 200 } })
    return { items: answer.model_routers, pages: answer.meta?.pages ?? 1 }
  })
  return found.map(({ uuid, name }) => ({
    uuid,
    display_name: `router:${name}`,
    api_name: `router:${name}`,
    source: 'CANDIDATE_MODEL_SOURCE_ROUTER',
  }))
}

const allPages = async <T>(
  read: (page: number) => Promise<{ items: T[]; pages: number }>,
): Promise<T[]> => {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const { items, pages } = await read(page)
    all.push(...items)
    if (page >= pages) return all
  }
}
