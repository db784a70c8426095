/** How a client that has no token learns where to get one (RFC 9728, RFC 6750). */
export interface Protection {
  /** The path of the protected endpoint, `/mcp`. */
  path: string
  /** What a person calls it. */
  name: string
  scopes?: readonly string[]
  /** Issuers of tokens; empty where tokens are handed out by the person who runs the server. */
  issuers?: readonly string[]
  documentation?: string
}

const wellKnown = '/.well-known/oauth-protected-resource'

/** Where the metadata is served: under the endpoint's path, and for clients that only try the root. */
export const metadataPaths = ({ path }: Protection): string[] => [wellKnown, wellKnown + path]

export const resourceMetadata = (origin: string, protection: Protection) => ({
  resource: origin + protection.path,
  resource_name: protection.name,
  bearer_methods_supported: ['header'],
  authorization_servers: protection.issuers,
  scopes_supported: protection.scopes,
  resource_documentation: protection.documentation,
})

export type ChallengeError = 'invalid_token' | 'insufficient_scope'

/** 401, or 403 for a valid token that may not do this. Without `error`: no token was sent. */
export const challenge = (
  origin: string,
  { path, name, scopes }: Protection,
  message: string,
  error?: ChallengeError,
): Response => {
  const parts = {
    realm: name,
    resource_metadata: origin + wellKnown + path,
    scope: scopes?.join(' '),
  }
  const told = error ? { ...parts, error, error_description: message } : parts
  const header = Object.entries(told).flatMap(([key, value]) =>
    value ? `${key}=${quote(value)}` : [],
  )
  return Response.json(
    { id: error === 'insufficient_scope' ? 'forbidden' : 'unauthorized', message },
    {
      status: error === 'insufficient_scope' ? 403 : 401,
      headers: { 'www-authenticate': `Bearer ${header.join(', ')}` },
    },
  )
}

/** A quoted-string holds printable ASCII only. */
const quote = (text: string): string =>
  `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`

export const bearerToken = (request: Request): string | undefined =>
  /^bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
