import { z } from 'zod'
import type { Operation } from '#core/operation.ts'

/** Our own OpenAPI document, derived from the contract. Additions of ours carry `x-cove: true`. */
export const openApiOf = (operations: readonly Operation[], version: string) => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = described(operation)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Cove v2 API', version },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Error: {
          type: 'object',
          required: ['id', 'message'],
          properties: {
            id: { type: 'string' },
            message: { type: 'string' },
            request_id: { type: 'string' },
          },
        },
      },
    },
    paths,
  }
}

const described = (operation: Operation) => ({
  security: [{ bearer: operation.scope ? [operation.scope] : [] }],
  ...(operation.ours ? { 'x-cove': true } : {}),
  parameters: [...pathParameters(operation.path), ...queryParameters(operation.query)],
  ...(operation.body
    ? { requestBody: { content: jsonContent(schemaOf(operation.body, 'input')) } }
    : {}),
  responses: {
    [operation.status]: {
      description: 'Success',
      ...(operation.returns ? { content: jsonContent(schemaOf(operation.returns, 'output')) } : {}),
    },
    default: {
      description: 'Refusal',
      content: jsonContent({ $ref: '#/components/schemas/Error' }),
    },
  },
})

const jsonContent = (schema: unknown) => ({ 'application/json': { schema } })

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const pathParameters = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const queryParameters = (query: z.ZodType | undefined) => {
  if (!query) return []
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}
