import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { ApiError } from '#core/error.ts'
import type { Node } from '../local/engine.ts'

/** A request as the cluster's own administrator: its certificate is the credential. */
export const ask = async (
  node: Node,
  method: 'GET' | 'PUT' | 'DELETE' | 'PATCH',
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> => {
  const [key, cert, ca] = await Promise.all(
    [node.tls.key, node.tls.cert, node.tls.ca].map((file) => readFile(file, 'utf8')),
  )
  const { status, text } = await new Promise<{ status: number; text: string }>(
    (resolve, reject) => {
      const call = request(
        {
          ...{ method, path, host: node.host, port: node.port, localAddress: node.host },
          ...{ key, cert, ca, timeout: 20_000 },
          headers: { 'content-type': 'application/json' },
        },
        (response) => {
          let said = ''
          response.setEncoding('utf8').on('data', (part: string) => {
            said += part
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text: said }))
        },
      )
      call.on('timeout', () => call.destroy(new Error('OpenSearch does not answer.')))
      call.on('error', reject)
      call.end(body === undefined ? '' : JSON.stringify(body))
    },
  )
  if (status >= 500 || text.startsWith('OpenSearch Security not')) throw new Error(text)
  if (status >= 400) throw ApiError.invalid(`OpenSearch refused it: ${text.slice(0, 300)}`)
  return JSON.parse(text) as Record<string, unknown>
}
