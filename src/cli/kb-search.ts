import { ApiError } from '#core/error.ts'
import type { Backend } from './backend.ts'

interface Answer {
  error?: { message: string }
  result?: { isError?: boolean; content: { text: string }[]; structuredContent?: unknown }
}

/** Asks the knowledge base endpoint, as any MCP client does. */
export const searchBase = async (
  { baseUrl, token, fetch }: Backend,
  args: Record<string, unknown>,
): Promise<{ text: string; structured: unknown }> => {
  const response = await fetch(
    new Request(`${baseUrl}/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'retrieve_knowledge_base', arguments: args },
      }),
    }),
  )
  const { error, result } = (await response.json()) as Answer
  const text = result?.content[0]?.text ?? error?.message ?? `HTTP ${response.status}`
  if (!result || result.isError) throw ApiError.invalid(text)
  return { text, structured: result.structuredContent }
}
