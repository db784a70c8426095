import { int, list, text } from '#mcp/args.ts'
import { KeyValue } from './actions/contract.ts'

/** Arguments and answers that several functions tools share. */
export const NamespaceID = text('Id, fn-…')
export const Limit = int('Most items; 0 means 200', 0, 200).default(30)
export const Skip = int('Items to skip', 0)
export const pairs = (about: string) => list(about, KeyValue.pick({ key: true, value: true }))

/** A list of the data plane is a bare array; an answer names it and says how many. */
export const listed = (name: string, body: unknown): Record<string, unknown> => ({
  [name]: body,
  count: Array.isArray(body) ? body.length : 0,
})
