import { createHash, timingSafeEqual } from 'node:crypto'
import { collection } from '#core/collection.ts'
import type { Clock } from './clock.ts'
import type { Store } from './store/store.ts'

/** Who calls, and what they may do. */
export interface Token {
  id: string
  name: string
  scopes: readonly string[]
}

/** A token as it is kept: only its hash, so that the store gives no access away. */
export interface StoredToken extends Token {
  hash: string
  created_at: string
  expires_at: string | null
}

export const storedTokens = collection<StoredToken>('tokens', {
  called: 'Token',
  key: 'hash',
  indexes: ['id'],
  unique: [['name']],
})

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Finds the token of a request. The owner's token is a setting and is not stored at all. */
export const createAuthenticator = (store: Store, clock: Clock, ownerToken: string) => {
  const table = store.collection(storedTokens)
  const ownerHash = Buffer.from(hashOf(ownerToken))
  const owner: Token = { id: 'owner', name: 'owner', scopes: ['*'] }

  return async (request: Request): Promise<Token | undefined> => {
    const secret = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    if (secret === undefined) return undefined
    const hash = hashOf(secret)
    if (timingSafeEqual(Buffer.from(hash), ownerHash)) return owner
    const token = await table.get(hash)
    if (!token || (token.expires_at && Date.parse(token.expires_at) <= clock.now()))
      return undefined
    return token
  }
}

/** `genai_read` is another spelling of `genai:read`. */
export const normalScope = (scope: string): string =>
  scope.includes(':') ? scope : scope.replace(/_(read|write|create|update|delete|admin)$/, ':$1')

/** Whether a token that has `scopes` may do `wanted`. */
export const allows = (scopes: readonly string[], wanted: string): boolean => {
  const [resource, act] = splitScope(wanted)
  return scopes.some((scope) => {
    const [ownResource, ownAct] = splitScope(scope)
    if (scope === '*') return true
    if (ownResource !== resource && ownResource !== '' && ownResource !== '*') return false
    // Whoever administers a kind of resource may do everything with it.
    const group = ownAct === 'admin' || (ownAct === 'write' && writes.has(act))
    return ownAct === act || group
  })
}

/** What the group `write` stands for. */
const writes = new Set(['create', 'update', 'delete'])

const splitScope = (scope: string): [string, string] => {
  const at = scope.lastIndexOf(':')
  return [scope.slice(0, Math.max(0, at)), scope.slice(at + 1)]
}
