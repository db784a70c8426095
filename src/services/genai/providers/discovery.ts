import { ApiError, messageOf } from '#core/error.ts'
import { readText, type Send } from '#inference/upstream/transport.ts'
import type { DeclaredModel, ProviderRecord } from './contract.ts'

const patience = 10_000
const longestList = 8 * 1024 * 1024

/** The models a provider says it has. */
export const listedModels = async (
  send: Send,
  { name, base_url, api_key_env }: ProviderRecord,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DeclaredModel[]> => {
  const url = `${base_url}/models`
  const key = api_key_env === null ? undefined : env[api_key_env]
  const fault = (why: string) =>
    ApiError.invalid(`${url} does not tell the models of ${name}: ${why}. Name them yourself.`)
  let text: string
  let late: NodeJS.Timeout | undefined
  try {
    const answer = await send(url, {
      method: 'GET',
      headers: {
        accept: 'application/json',
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      breakable: (breakOff) => {
        late = setTimeout(() => breakOff(new Error('it takes too long')), patience)
      },
    })
    text = await readText(answer.body, longestList)
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
  } catch (error) {
    throw fault(messageOf(error))
  } finally {
    clearTimeout(late)
  }
  const ids = idsIn(text)
  if (ids.length === 0) throw fault('its answer lists none')
  return ids.map((id) => ({ id }))
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
