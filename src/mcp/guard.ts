/** Names under which only this machine reaches itself. */
const loopback = ['localhost', '127.0.0.1', '[::1]']

export interface GuardOptions {
  /** Further hosts, as `name` (any port) or `name:port`. */
  hosts?: readonly string[]
  /** Further origins of web pages, as `https://example.com`. */
  origins?: readonly string[]
}

/**
 * Refuses what a web page could send from a person's browser under a name that resolves to this
 * machine (DNS rebinding): `Host` has to be a name this server is known by, and an `Origin` one of
 * them, or one that was allowed.
 */
export const createGuard = ({ hosts = [], origins = [] }: GuardOptions = {}) => {
  const names = new Set([...loopback, ...hosts].map((host) => host.toLowerCase()))
  const pages = new Set(origins.map((origin) => origin.toLowerCase()))
  const isKnown = (host: string): boolean => names.has(host) || names.has(withoutPort(host))

  return (request: Request): Response | undefined => {
    const host = (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
    if (!isKnown(host)) return forbid(`The Host "${host}" is not one this server answers to.`)
    const origin = request.headers.get('origin')?.toLowerCase()
    if (origin === undefined || pages.has(origin) || isKnown(origin.replace(/^https?:\/\//, '')))
      return undefined
    return forbid(`The Origin "${origin}" may not use this server.`)
  }
}

const withoutPort = (host: string): string => host.replace(/:\d+$/, '')

const forbid = (message: string): Response =>
  Response.json({ id: 'forbidden', message }, { status: 403 })
