import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isObject, type JsonObject } from '#mcp/protocol.ts'

/** Texts that a client carries for us and cannot change: session ids, states of open questions. */
export interface Seal {
  close(payload: JsonObject): string
  /** Undefined for anything this key did not close. */
  open(text: string): JsonObject | undefined
  /** The same for equal values, whatever the order of their keys. */
  digest(value: unknown): string
}

export const createSeal = (key: string | Uint8Array = randomBytes(32)): Seal => {
  const sign = (body: string): Buffer => createHmac('sha256', key).update(body).digest()
  return {
    close(payload) {
      const body = Buffer.from(JSON.stringify(payload)).toString('base64url')
      return `${body}.${sign(body).toString('base64url')}`
    },
    open(text) {
      const dot = text.indexOf('.')
      if (dot < 0) return undefined
      const body = text.slice(0, dot)
      const given = Buffer.from(text.slice(dot + 1), 'base64url')
      const right = sign(body)
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
      const payload: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
      return isObject(payload) ? payload : undefined
    },
    digest: (value) =>
      createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('base64url'),
  }
}

const sortKeys = (_: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
