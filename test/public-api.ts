import { existsSync, readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { projectFile } from '#core/built.ts'

/** The public API's own description, where it lies beside the project. */
const descriptionPath = projectFile('../shared/openapi/v2-subset.json')

type Node = Record<string, unknown>

interface Description extends Node {
  paths: Record<string, Record<string, Node>>
}

export interface PublicApi {
  /** What is wrong with an answer, or undefined. */
  answerFault(method: string, url: string, status: number, body: string): string | undefined
  /** What is wrong with a request, or undefined. */
  requestFault(method: string, url: string, body: string): string | undefined
  /** What an answer looks like, and where its references lead. */
  answerSchema(
    method: string,
    url: string,
    status: number,
  ): { schema: Node; look: (reference: string) => Node } | undefined
}

/** Checks requests and answers by the public description; undefined where there is none. */
export const openPublicApi = (): PublicApi | undefined => {
  if (!existsSync(descriptionPath)) return undefined
  const description: Description = JSON.parse(readFileSync(descriptionPath, 'utf8'))
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    allErrors: true,
    unicodeRegExp: false,
  })
  ajv.addSchema(description, 'api')
  const templates = Object.keys(description.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
    literal: path.replace(/\{[^}]+\}/g, '').length,
  }))
  const compiled = new Map<string, ValidateFunction>()

  const find = (method: string, url: string) => {
    const pathname = new URL(url).pathname.replace('/v2/genai/', '/v2/gen-ai/')
    const [template] = templates
      .filter(({ pattern }) => pattern.test(pathname))
      .sort((a, b) => b.literal - a.literal)
    const verb = method.toLowerCase()
    return template && description.paths[template.path]?.[verb] ? [template.path, verb] : undefined
  }

  /** The part of the description at a place, behind its references, and where it really is. */
  const at = (...keys: string[]): { part: Node; keys: string[] } | undefined => {
    let part: Node = description
    for (const [index, key] of keys.entries()) {
      const next = part[key] as Node | undefined
      if (!next) return undefined
      if (typeof next.$ref === 'string') {
        return at(...next.$ref.slice(2).split('/'), ...keys.slice(index + 1))
      }
      part = next
    }
    return { part, keys }
  }

  const check = (pointer: string, value: unknown): string | undefined => {
    let validate = compiled.get(pointer)
    if (!validate) {
      validate = ajv.compile({ $ref: `api#${pointer}` })
      compiled.set(pointer, validate)
    }
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }

  /** Parameters that the description has must fit it; it is silent on some that clients send. */
  const faultOfQuery = (place: string[], query: URLSearchParams): string | undefined => {
    const [path = '', verb = ''] = place
    for (const level of [
      ['paths', path],
      ['paths', path, verb],
    ]) {
      const { length = 0 } = (at(...level, 'parameters')?.part ?? {}) as { length?: number }
      for (let index = 0; index < length; index++) {
        const found = at(...level, 'parameters', String(index))
        const { in: where, name } = found?.part ?? {}
        const value = where === 'query' ? query.get(String(name)) : null
        if (!found || value === null) continue
        const schema = at(...found.keys, 'schema')
        const fault = schema && check(pointerOf(schema.keys), natural(value, schema.part))
        if (fault) return `${name}: ${fault}`
      }
    }
    return undefined
  }

  return {
    answerFault: (method, url, status, body) => {
      const place = find(method, url)
      if (!place || status >= 400) return undefined
      const what = `${method} ${place[0]}`
      if (!at('paths', ...place, 'responses', String(status)))
        return `${what} never answers ${status}`
      const schema = at('paths', ...place, 'responses', String(status), ...jsonSchema)
      if (!schema) return body === '' ? undefined : `${what} answers with an empty body`
      const fault = check(pointerOf(schema.keys), JSON.parse(body))
      return fault && `answer of ${what}: ${fault}`
    },
    answerSchema: (method, url, status) => {
      const place = find(method, url)
      const found = place && at('paths', ...place, 'responses', String(status), ...jsonSchema)
      const look = (reference: string) => at(...reference.slice(2).split('/'))?.part ?? {}
      return found && { schema: found.part, look }
    },
    requestFault: (method, url, body) => {
      const place = find(method, url)
      if (!place) return `${method} ${new URL(url).pathname} is not in the public API`
      const queryFault = faultOfQuery(place, new URL(url).searchParams)
      if (queryFault) return `query of ${method} ${place[0]}: ${queryFault}`
      const schema = at('paths', ...place, 'requestBody', ...jsonSchema)
      if (!schema) return undefined
      const fault = check(pointerOf(schema.keys), body === '' ? undefined : JSON.parse(body))
      return fault && `request of ${method} ${place[0]}: ${fault}`
    },
  }
}

const natural = (value: string, { type }: Node): unknown => {
  if (type === 'integer' || type === 'number') return Number(value)
  if (type === 'boolean') return value === 'true'
  return type === 'array' ? [value] : value
}

const jsonSchema = ['content', 'application/json', 'schema']

const pointerOf = (keys: readonly string[]): string =>
  keys
    .map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')
