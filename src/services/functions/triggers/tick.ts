import { createHash } from 'node:crypto'

/** The same trigger and tick always make the same id. */
export const idFor = (...parts: (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
