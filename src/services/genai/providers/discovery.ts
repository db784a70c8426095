import { ApiError, messageOf } from '#core/error.ts'
import type { Send } from '#inference/upstream/transport.ts'
import type { DeclaredModel, ProviderRecord } from './contract.ts'

const patience = 10_000
const longestList = 8 * 1024 * 1024

/** The models a provider says it has. */
export const listedModels = async (
  send: Send,
  { name, base_url, api_key_env }: ProviderRecord,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DeclaredModel[]> => {
  const url = new URL(`${base_url}/models`)
  const key = api_key_env === null ? undefined : env[api_key_env]
  const fault = (why: string) =>
    ApiError.invalid(`${url} does not tell the models of ${name}: ${why}. Name them yourself.`)
  let text: string
  try {
    const answer = await send(url, {
      method: 'GET',
      headers: {
        accept: 'application/json',
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      signal: AbortSignal.timeout(patience),
    })
    text = await bounded(answer.body)
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
  } catch (error) {
    throw fault(messageOf(error))
  }
  const ids = idsIn(text)
  if (ids.length === 0) throw fault('its answer lists none')
  return ids.map((id) => ({ id }))
}

const bounded = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > longestList) throw new Error('its answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `{ data: [{ id }] }`, as the API has it; a bare list, as some servers do. */
const idsIn = (text: string): string[] => {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return [] // The caller says that nothing was listed.
  }
  const list = Array.isArray(answer) ? answer : (answer as { data?: unknown } | null)?.data
  if (!Array.isArray(list)) return []
  return list.flatMap((item) =>
    typeof item?.id === 'string' && item.id !== '' ? [item.id as string] : [],
  )
}
