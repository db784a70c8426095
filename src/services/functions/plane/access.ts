import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '#core/error.ts'
import { storedAccessKeys } from '../keys/records.ts'
import { type StoredNamespace, storedNamespaces } from '../namespaces/records.ts'
import type { Ground } from './ground.ts'

export const hashSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex')

/** Whose namespace a request comes from. */
export interface Access {
  authenticate(request: Request): Promise<StoredNamespace>
  /** Keys were changed here: what was found before no longer counts. */
  forget(): void
}

/** ms for which a credential that was right is not looked up again. */
const trust = 1_000
const mostRemembered = 10_000

interface Known {
  namespace: StoredNamespace
  /** When to look again, or when the key expires if that is sooner. */
  until: number
}

/** Basic authentication with a namespace's uuid and key, or with an access key's id and secret. */
export const createAccess = ({ store, clock }: Ground): Access => {
  const namespaces = store.collection(storedNamespaces)
  const keys = store.collection(storedAccessKeys)
  const known = new Map<string, Known>()

  const lookUp = async (header: string): Promise<Known | undefined> => {
    const [user = '', secret = ''] = Buffer.from(header.slice('Basic '.length), 'base64')
      .toString()
      .split(/:(.*)/s)
    const now = clock.now()
    const key = await keys.get(user)
    if (!key) {
      const namespace = user ? await namespaces.find({ uuid: user }) : undefined
      return namespace && same(hashSecret(namespace.key), hashSecret(secret))
        ? { namespace, until: now + trust }
        : undefined
    }
    const expires = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
    if (!same(key.hash, hashSecret(secret)) || expires <= now) return undefined
    const namespace = await namespaces.get(key.namespace)
    return namespace && { namespace, until: Math.min(expires, now + trust) }
  }

  return {
    authenticate: async (request) => {
      const header = request.headers.get('authorization') ?? ''
      if (!/^Basic \S+$/.test(header))
        throw ApiError.unauthorized(
          'The resource requires authentication, which was not supplied with the request',
        )
      const remembered = known.get(header)
      if (remembered && clock.now() < remembered.until) return remembered.namespace
      known.delete(header)
      const found = await lookUp(header)
      if (!found) throw ApiError.unauthorized('The supplied authentication is invalid')
      if (known.size >= mostRemembered) known.clear()
      known.set(header, found)
      return found.namespace
    },
    forget: () => known.clear(),
  }
}

const same = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(a), Buffer.from(b))
