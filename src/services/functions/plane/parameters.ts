import { ApiError } from '#core/error.ts'
import type { KeyValue } from '../actions/contract.ts'

/** Later lists win; the order of first appearance stays. */
export const mergePairs = (...lists: readonly KeyValue[][]): KeyValue[] => {
  const merged = new Map<string, KeyValue>()
  for (const list of lists) for (const pair of list) merged.set(pair.key, pair)
  return [...merged.values()]
}

/** Parameters as a call gets them: those for the environment apart. */
export const splitParameters = (pairs: readonly KeyValue[]) => {
  const params: Record<string, unknown> = {}
  const env: Record<string, string> = {}
  for (const { key, value, init } of pairs)
    if (init) env[key] = typeof value === 'string' ? value : JSON.stringify(value ?? null)
    else params[key] = value
  return { params, env }
}

export const annotation = (pairs: readonly KeyValue[], key: string): unknown =>
  pairs.find((pair) => pair.key === key)?.value

export const isTrue = (value: unknown): boolean =>
  value === true || value === 'true' || value === 'yes'

export const checkSize = (pairs: readonly KeyValue[], what: string, limit: number) => {
  const size = Buffer.byteLength(JSON.stringify(pairs))
  if (size > limit)
    throw new ApiError(413, `${what} larger than allowed: ${size} > ${limit} bytes.`)
}
