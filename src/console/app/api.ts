/** The console is an ordinary client of the API, with a token of its own. */
const tokenKey = 'cove-token'

export const savedToken = (): string | null => sessionStorage.getItem(tokenKey)
export const forgetToken = (): void => sessionStorage.removeItem(tokenKey)

export class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Json = Record<string, unknown>

export interface Answer {
  body: Json
  /** What the cloud says beside the answer. */
  note: string | undefined
}

export const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${savedToken() ?? ''}`,
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer: Json = text === '' ? {} : JSON.parse(text)
  if (!response.ok)
    throw new Refusal(response.status, String(answer.message ?? response.statusText))
  const note = response.headers.get('x-cove-note')
  return { body: answer, note: note === null ? undefined : decodeURIComponent(note) }
}

export const get = async (path: string): Promise<Json> => (await ask('GET', path)).body

/** Exchange the code of a sign-in link, or take a token as it is; throws when it is not valid. */
export const signIn = async (given: { code: string } | { token: string }): Promise<void> => {
  const token =
    'token' in given ? given.token : (await ask('POST', '/console/session', given)).body.token
  sessionStorage.setItem(tokenKey, String(token))
  try {
    await get('/v2/account')
  } catch (error) {
    forgetToken()
    throw error
  }
}

/** A request to one of the MCP endpoints; the result of the method. */
export const rpc = async (path: string, method: string, params: Json): Promise<Json> => {
  const { body } = await ask('POST', path, { jsonrpc: '2.0', id: 1, method, params })
  const error = body.error as { message: string } | undefined
  if (error) throw new Refusal(200, error.message)
  return body.result as Json
}
