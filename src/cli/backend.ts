import { type Api, createApi, type Fetch } from '#client/client.ts'
import { ensureDaemon, findDaemon } from './daemon.ts'
import { ownerToken } from './home.ts'
import { UsageError, type Values } from './values.ts'

/** The cloud that a command or a tool server drives. */
export interface Backend {
  baseUrl: string
  token: string
  fetch: Fetch
}

export type BackendValues = Values<'api-url' | 'api-token' | 'token'>

export interface BackendRequest {
  values: BackendValues
  home: string
  env: NodeJS.ProcessEnv
}

/** A given API, else the Cove of this home, started where it does not run. */
export const openBackend = async ({ values, home, env }: BackendRequest): Promise<Backend> => {
  const remote = remoteBackend(values)
  if (remote) return remote
  const { url } = await ensureDaemon(home, env)
  return { baseUrl: url, token: ownerToken(home, values.token), fetch }
}

/** As `openBackend`, but never starts anything. */
export const findBackend = async ({ values, home }: BackendRequest): Promise<Backend> => {
  const remote = remoteBackend(values)
  if (remote) return remote
  const daemon = await findDaemon(home)
  if (!daemon) throw new UsageError(`No Cove is running on ${home}. Start one with "cove up".`)
  return { baseUrl: daemon.url, token: ownerToken(home, values.token), fetch }
}

export const apiOf = (backend: Backend, onNote?: (note: string) => void): Api =>
  createApi({ ...backend, ...(onNote ? { onNote } : {}) })

/** The API that was asked for by URL; undefined for the one on this machine. */
export const remoteBackend = (values: BackendValues): Backend | undefined => {
  const url = values['api-url']
  if (url === undefined) return undefined
  const token = values['api-token']
  if (token === undefined) {
    throw new UsageError(`A token for ${url} is missing: set COVE_API_TOKEN.`)
  }
  return { baseUrl: checkedUrl(url), token, fetch }
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** A token is not sent over an open line. */
const checkedUrl = (text: string): string => {
  const withScheme = /^\w+:\/\//.test(text) ? text : `https://${text}`
  if (!URL.canParse(withScheme)) throw new UsageError(`--api-url must be a URL, not "${text}".`)
  const url = new URL(withScheme)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))) {
    return url.href.replace(/\/(v2\/?)?$/, '')
  }
  throw new UsageError(
    `--api-url must start with https:// (http:// only on this machine), not "${text}".`,
  )
}
