import { z } from 'zod'
import { ApiError, messageOf } from '#core/error.ts'
import { issuesOf, Uuid } from '#core/schema.ts'
import { challenge, type Protection, resourceMetadata } from '#mcp/challenge.ts'
import { serveHttp } from '#mcp/http.ts'
import { type JsonObject, legacyVersions, RpcError, rendered } from '#mcp/protocol.ts'
import { allows, type Token } from '#platform/tokens.ts'
import { type Filter, filterLimits, filterOperators, parseFilter } from './filter.ts'
import type { Hit } from './index/index.ts'

/** The tool, its one home. */
const toolName = 'retrieve_knowledge_base'
const scope = 'genai:read'

const protection: Protection = {
  path: '/v1/mcp',
  name: 'Cove knowledge bases',
  scopes: [scope],
}

export interface RetrieveRequest {
  knowledgeBase: string
  text: string
  limit: number
  alpha: number
  filter?: Filter
}

export interface EndpointParts {
  authenticate(request: Request): Promise<Token | undefined>
  retrieve(request: RetrieveRequest): Promise<Hit[]>
  version: string
  report(error: unknown): void
}

/**
 * `POST /v1/mcp`: one tool that searches knowledge bases, for any MCP client. Answers the handlers of
 * its paths.
 */
export const knowledgeEndpoint = (parts: EndpointParts) => {
  const serve = serveHttp(
    {
      info: { name: 'cove-knowledge', title: 'Cove knowledge bases', version: parts.version },
      instructions: `Use ${toolName} to look things up in a knowledge base before answering.`,
      versions: legacyVersions,
      capabilities: { tools: {} },
      report: parts.report,
      methods: {
        'tools/list': () => list,
        'tools/call': async (params, { headers, auth }) => {
          if (params.name !== toolName)
            throw new RpcError(
              'invalidParams',
              `Unknown tool "${String(params.name).slice(0, 100)}": there is only ${toolName}.`,
            )
          try {
            const refusal = auth ? undefined : await refusalOf(parts, headers ?? new Headers())
            if (refusal) throw new ApiError(refusal.status, refusal.message)
            const request = readArguments(params.arguments)
            return success(request.text, await parts.retrieve(request))
          } catch (error) {
            if (!(error instanceof ApiError)) parts.report(error)
            return failure(error)
          }
        },
      },
    },
    { sessions: false },
  )

  const receive = async (request: Request): Promise<Response> => {
    // What is no message is told so before anybody is asked for a token.
    if (request.method !== 'POST') return serve(request)
    const refusal = await refusalOf(parts, request.headers)
    if (!refusal) return serve(request, { auth: { principal: scope } })
    if (await onlyCallsTools(request.clone())) return serve(request)
    const { origin } = new URL(request.url)
    return challenge(origin, protection, refusal.message, refusal.error)
  }

  return {
    [protection.path]: receive,
    [`/.well-known/oauth-protected-resource${protection.path}`]: (request: Request) =>
      Response.json(resourceMetadata(new URL(request.url).origin, protection)),
  }
}

interface Refusal {
  status: 401 | 403
  message: string
  error?: 'invalid_token' | 'insufficient_scope'
}

const refusalOf = async (
  { authenticate }: EndpointParts,
  headers: Headers,
): Promise<Refusal | undefined> => {
  const authorization = headers.get('authorization')
  const token = await authenticate(
    new Request('http://cove.local', authorization ? { headers: { authorization } } : {}),
  )
  if (token && allows(token.scopes, scope)) return undefined
  if (token)
    return {
      status: 403,
      message: `The token "${token.name}" lacks the permission genai_read (scope ${scope}).`,
      error: 'insufficient_scope',
    }
  return authorization
    ? {
        status: 401,
        message: 'Authentication failed: the token is unknown, expired or revoked.',
        error: 'invalid_token',
      }
    : {
        status: 401,
        message:
          'Authentication failed: send the header "Authorization: Bearer <token>" with a token that has the permission genai_read.',
      }
}

/** Such a caller is told in the result of the tool; see the endpoint's error table. */
const onlyCallsTools = async (request: Request): Promise<boolean> => {
  const body: unknown = await request.json().catch(() => undefined)
  const messages = Array.isArray(body) ? body : [body]
  return messages.every((message) => (message as JsonObject | undefined)?.method === 'tools/call')
}

const Arguments = z.strictObject({
  knowledge_base_id: Uuid,
  query: z.string().trim().min(1).max(10_000),
  num_results: z.number().int().min(1).max(25),
  alpha: z.number().min(0).max(1).nullish(),
  filters: z.unknown().optional(),
})

const readArguments = (input: unknown): RetrieveRequest => {
  const read = Arguments.safeParse(input ?? {})
  if (!read.success) throw ApiError.invalid(`Invalid input: ${issuesOf(read.error)}.`)
  const { knowledge_base_id, query, num_results, alpha, filters } = read.data
  return {
    knowledgeBase: knowledge_base_id,
    text: query,
    limit: num_results,
    alpha: alpha ?? 0.5,
    ...(filters !== undefined && filters !== null && { filter: readFilter(filters) }),
  }
}

const readFilter = (filters: unknown): Filter => {
  try {
    return parseFilter(filters)
  } catch (error) {
    throw ApiError.invalid(`Invalid input: ${messageOf(error)}`)
  }
}

const success = (query: string, hits: readonly Hit[]) => {
  const results = hits.map(({ text, metadata }) => ({ text_content: text, metadata }))
  return {
    content: [{ type: 'text', text: readable(query, hits) }],
    structuredContent: { total_results: results.length, results },
  }
}

const failure = (error: unknown) => ({
  content: [
    {
      type: 'text',
      text:
        error instanceof ApiError
          ? error.message
          : 'Something went wrong inside the server; its log tells what.',
    },
  ],
  isError: true,
})

const readable = (query: string, hits: readonly Hit[]): string => {
  const said = query.length > 200 ? `${query.slice(0, 200)}…` : query
  if (hits.length === 0) return `No results for "${said}".`
  const head = `${hits.length} ${hits.length === 1 ? 'result' : 'results'} for "${said}"`
  return [head, ...hits.map((hit, at) => `[${at + 1}] ${origin(hit)}\n${hit.text}`)].join('\n\n')
}

/** Where a chunk is from, as far as its metadata tells. */
const origin = ({ metadata }: Hit): string => {
  const { path, title, section, page } = metadata
  const titled = typeof section === 'string' && section.startsWith(String(title))
  const parts = [!titled && title !== path && title, section, page && `page ${page}`]
  const where = parts.filter(Boolean).join(', ')
  return where ? `${where} (${path})` : String(path)
}

const comparison = {
  type: 'object',
  properties: { key: { type: 'string' }, value: { type: ['string', 'number'] } },
  required: ['key', 'value'],
  additionalProperties: false,
}
const nested = { type: 'array', minItems: 1, items: { $ref: '#/$defs/filter' } }

const list = rendered(
  JSON.stringify({
    tools: [
      {
        name: toolName,
        title: 'Retrieve from knowledge base',
        description:
          'Search one knowledge base and get the passages that answer best, with their metadata. Hybrid search: by meaning and by keywords.',
        inputSchema: {
          type: 'object',
          properties: {
            knowledge_base_id: {
              type: 'string',
              format: 'uuid',
              description: 'Knowledge base to search',
            },
            query: {
              type: 'string',
              minLength: 1,
              maxLength: 10_000,
              description: 'Search text: a question or keywords',
            },
            num_results: {
              type: 'integer',
              minimum: 1,
              maximum: 25,
              description: 'Number of results',
            },
            alpha: {
              type: 'number',
              minimum: 0,
              maximum: 1,
              default: 0.5,
              description: '0 = pure keyword, 0.5 = balanced hybrid, 1 = pure semantic',
            },
            filters: {
              $ref: '#/$defs/filter',
              description: `Metadata filter: one comparison, or and_all / or_all of filters (not both in one object), for example {"and_all":[{"equals":{"key":"source_name","value":"guide.md"}},{"greater_than":{"key":"page","value":2}}]}. At most ${filterLimits.depth} levels.`,
            },
          },
          required: ['knowledge_base_id', 'query', 'num_results'],
          additionalProperties: false,
          $defs: {
            filter: {
              type: 'object',
              minProperties: 1,
              maxProperties: 1,
              additionalProperties: false,
              properties: {
                ...Object.fromEntries(filterOperators.map((name) => [name, comparison])),
                and_all: nested,
                or_all: nested,
              },
            },
          },
        },
        outputSchema: {
          type: 'object',
          properties: {
            total_results: { type: 'integer' },
            results: {
              type: 'array',
              items: {
                type: 'object',
                properties: { text_content: { type: 'string' }, metadata: { type: 'object' } },
                required: ['text_content', 'metadata'],
              },
            },
          },
          required: ['total_results', 'results'],
        },
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
    ],
  }),
)
