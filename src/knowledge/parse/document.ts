import type { MetadataValue } from '../index/index.ts'

/** A run of text that belongs together: a paragraph, a list, a table row, a function. */
export interface Block {
  text: string
  /** Headings above it, outermost first. */
  headings: readonly string[]
  /** Of a document with pages, from 1. */
  page?: number
}

/** What a parser makes of a file. */
export interface Parsed {
  title?: string
  blocks: Block[]
  /** Front matter and document properties. */
  metadata: Record<string, MetadataValue>
}

/** A parser is given the bytes and the name of a file; it throws `Unreadable` for one it cannot use. */
export type Parser = (bytes: Uint8Array, name: string) => Parsed | Promise<Parsed>

/** Why a file is skipped, as a clause after its name: `is encrypted`. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

/** UTF-8, or UTF-16 when it says so. */
export const textOf = (bytes: Uint8Array): string => {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : 'utf-8'
  // A few bytes of another encoding spoil some letters only; a binary file has far more of them.
  const text = new TextDecoder(encoding).decode(bytes)
  const sample = text.slice(0, 65_536)
  let foreign = 0
  for (let at = 0; at < sample.length; at++) if (isForeign(sample.charCodeAt(at))) foreign++
  if (foreign > sample.length / 100 || sample.includes('\0'))
    throw new Unreadable('is not text (binary data, or an encoding other than UTF-8 and UTF-16)')
  return text
}

/** Control characters other than white space, and the mark of what could not be decoded. */
const isForeign = (code: number): boolean => code < 9 || (code > 13 && code < 27) || code === 0xfffd

/** Fields of any origin, as filters can use them: text, numbers, and lists of these. */
export const metadataOf = (fields: Readonly<Record<string, unknown>>) => {
  const metadata: Record<string, MetadataValue> = {}
  for (const [key, value] of Object.entries(fields)) {
    const usable = Array.isArray(value) ? value.flatMap(scalars) : scalars(value)[0]
    if (usable !== undefined && !(Array.isArray(usable) && usable.length === 0))
      metadata[key] = usable
  }
  return metadata
}

const scalars = (value: unknown): (string | number)[] => {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return Number.isFinite(value) ? [value] : []
  if (typeof value === 'boolean' || typeof value === 'bigint') return [String(value)]
  return value instanceof Date ? [value.toISOString()] : []
}
