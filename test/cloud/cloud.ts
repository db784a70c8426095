import { z } from 'zod'
import type { Operation } from '#core/operation.ts'
import { issuesOf } from '#core/schema.ts'
import { allTools } from '#services/catalogue.ts'
import { accessKeys } from '#services/functions/keys/contract.ts'
import { datasets } from '#services/genai/evaluation-datasets/contract.ts'
import { openPublicApi } from '../public-api.ts'
import { usualAnswers } from './answers.ts'
import { dataPlane, dataPlaneHost, uploadHost } from './data-plane.ts'
import { type Style, sample } from './sample.ts'

export const baseUrl = 'https://api.example'
export const token = 'the-token'

/** One request as the cloud saw it. */
export interface Asked {
  method: string
  /** `/v2/domains/:name`, or the path as it is where no operation has it. */
  path: string
  values: Record<string, string>
  query: Record<string, string>
  body: unknown
  operation?: Operation
  signal: AbortSignal
}

export interface CloudOptions {
  style?: Style
  /** In place of the usual answer: a response, or undefined to answer as usual. */
  fault?: (asked: Asked, number: number) => Response | Promise<Response> | undefined
  /** Changes answers, by `GET /v2/domains/:name`. */
  answers?: Record<string, (usual: never, asked: Asked) => unknown>
}

const publicApi = openPublicApi()

/** Also those that only tidy up. */
const operations = [
  ...new Set([
    ...Object.values(allTools).flatMap((tool) => tool.uses),
    accessKeys.delete,
    datasets.delete,
  ]),
].map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
  literal: operation.path.replace(/:\w+/g, '').length,
}))

/**
 * Plays the real cloud: holds every request against our contract and the public description, and
 * answers with a body that both allow.
 */
export const contractCloud = (options: CloudOptions = {}) => {
  const { style = 'full', fault } = options
  const answers: CloudOptions['answers'] = { ...usualAnswers, ...options.answers }
  const asked: Asked[] = []
  /** What was wrong with requests, or with what we made up as answers. */
  const wrong: string[] = []
  const check = (what: string | undefined) => {
    if (what) wrong.push(what)
  }

  const answer = (request: Request, seen: Asked, operation: Operation): Response => {
    const { method, url } = request
    const { returns, status } = operation
    const change = answers[`${method} ${operation.path}`] as
      | ((usual: unknown, asked: Asked) => unknown)
      | undefined
    const made = returns ? bodyOf(method, url, operation, style) : undefined
    const body = change ? change(made, seen) : made
    const text = body === undefined ? '' : JSON.stringify(body)
    // Ours is stricter where it speaks for our own platform, so each answer is held against its source.
    if (style !== 'bare' && publicApi) check(publicApi.answerFault(method, url, status, text))
    else if (returns) check(faultIn(returns, body, `answer of ${method} ${operation.path}`))
    return new Response(text === '' ? null : text, { status, headers })
  }

  const fetch = async (request: Request): Promise<Response> => {
    const { host } = new URL(request.url)
    const text = await request.text()
    const seen = seenOf(request, text)
    asked.push(seen)
    const failing = await fault?.(seen, asked.length)
    if (failing) return failing
    if (host === uploadHost || host === dataPlaneHost) {
      const { response, problem } = dataPlane(request, seen)
      check(problem)
      return response
    }
    if (request.headers.get('authorization') !== `Bearer ${token}`)
      check('a call without the token')
    const { operation } = seen
    if (!operation) {
      check(`${seen.method} ${seen.path} is no operation of ours`)
      return new Response(null, { status: 404 })
    }
    const what = `${seen.method} ${operation.path}`
    if (operation.body) check(faultIn(operation.body, seen.body, `body of ${what}`))
    else if (text !== '') check(`${what} has no body`)
    if (operation.query) check(faultIn(operation.query, seen.query, `query of ${what}`))
    else if (Object.keys(seen.query).length > 0) check(`${what} has no query`)
    if (!operation.ours) check(publicApi?.requestFault(seen.method, request.url, text))
    return answer(request, seen, operation)
  }

  return { fetch, asked, wrong }
}

export const headers = { 'content-type': 'application/json', 'x-request-id': 'request-7' }

const seenOf = (request: Request, text: string): Asked => {
  const { pathname, searchParams } = new URL(request.url)
  const [found] = operations
    .filter(
      ({ operation, pattern }) => operation.method === request.method && pattern.test(pathname),
    )
    .sort((a, b) => b.literal - a.literal)
  const values = found?.pattern.exec(pathname)?.groups ?? {}
  return {
    method: request.method,
    path: found?.operation.path ?? pathname,
    values: Object.fromEntries(Object.entries(values).map(([k, v]) => [k, decodeURIComponent(v)])),
    query: Object.fromEntries(searchParams),
    body: request.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    ...(found ? { operation: found.operation } : {}),
    signal: request.signal,
  }
}

/** By the public description where there is one; what must be there, by our contract. */
const bodyOf = (method: string, url: string, operation: Operation, style: Style): unknown => {
  const described =
    style === 'bare' ? undefined : publicApi?.answerSchema(method, url, operation.status)
  if (described) return sample(described.schema, style, described.look)
  const schema = z.toJSONSchema(operation.returns ?? z.unknown(), {
    io: 'output',
    unrepresentable: 'any',
  }) as Record<string, unknown>
  const definitions = (schema.$defs ?? {}) as Record<string, Record<string, unknown>>
  return sample(schema, style, (reference) => definitions[reference.split('/').at(-1) ?? ''] ?? {})
}

const faultIn = (schema: z.ZodType, value: unknown, where: string): string | undefined => {
  const parsed = schema.safeParse(value)
  return parsed.success ? undefined : `${where}: ${issuesOf(parsed.error)}`
}
