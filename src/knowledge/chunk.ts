import type { Metadata } from './index/index.ts'
import type { Block, Parsed } from './parse/document.ts'

/** A chunk before it has a vector. */
export interface Passage {
  text: string
  heading: string
  metadata: Metadata
}

export interface Chunking {
  /** `section`: a chunk never spans two sections; `fixed`: chunks are filled up regardless. */
  by: 'section' | 'fixed'
  /** Tokens of text in a chunk; headings, given to the model with each, come on top. */
  maxTokens: number
}

/** With up to `headingTokens` of headings this stays below the 256 tokens the model reads. */
export const defaultChunking: Chunking = { by: 'section', maxTokens: 200 }
/** Tokens that a chunk may be asked to have. */
export const chunkSizes = { least: 32, most: 200 }
const headingTokens = 48
/** A long run without spaces may be one token to the model; it is cut all the same. */
const longestToken = 16

/** What the model reads of a passage. */
export const embeddingText = ({ heading, text }: Passage): string =>
  heading ? `${heading}\n${text}` : text

/** Cuts a document where its structure allows; `count` is the model's own tokenizer. */
export const chunkDocument = (
  { title = '', blocks }: Parsed,
  { by, maxTokens }: Chunking,
  tokens: (text: string) => number,
): Passage[] => {
  const count = (text: string) => Math.max(tokens(text), Math.ceil(text.length / longestToken))
  const passages: Passage[] = []
  let open: { parts: string[]; tokens: number; block: Block } | undefined
  const finish = () => {
    if (!open) return
    const section = open.block.headings.join(' > ')
    passages.push({
      text: open.parts.join('\n\n'),
      heading: shortened(headingOf(title, open.block.headings), count),
      metadata: {
        ...(section && { section }),
        ...(open.block.page !== undefined && { page: open.block.page }),
        chunk_number: passages.length + 1,
      },
    })
    open = undefined
  }
  for (const block of blocks) {
    if (open && by === 'section' && !sameSection(open.block, block)) finish()
    for (const part of pieces(block.text, maxTokens, count)) {
      const size = count(part)
      if (open && open.tokens + size > maxTokens) finish()
      open ??= { parts: [], tokens: 0, block }
      open.parts.push(part)
      open.tokens += size
    }
  }
  finish()
  return passages
}

const sameSection = (a: Block, b: Block): boolean =>
  a.page === b.page && a.headings.join('\n') === b.headings.join('\n')

/** The title, then the headings; a first heading that repeats the title is said once. */
const headingOf = (title: string, headings: readonly string[]): string =>
  [title, ...headings.filter((heading, at) => at > 0 || heading !== title)]
    .filter(Boolean)
    .join(' > ')

const shortened = (heading: string, count: (text: string) => number): string => {
  let kept = heading
  while (count(kept) > headingTokens) kept = kept.slice(0, Math.floor(kept.length * 0.8))
  return kept
}

/** At lines, else at sentences, else at words, else anywhere. */
const separators = [/(?<=\n)/, /(?<=[.!?。！？]["')\]]?)\s+/u, /\s+/]

const pieces = (
  text: string,
  maxTokens: number,
  count: (text: string) => number,
  level = 0,
): string[] => {
  if (count(text) <= maxTokens) return [text]
  const separator = separators[level]
  const parts = separator ? text.split(separator) : halves(text)
  const joint = level === 0 || !separator ? '' : ' '
  const found: string[] = []
  let open = ''
  let tokens = 0
  const finish = () => {
    if (open.trim()) found.push(open.trimEnd())
    open = ''
    tokens = 0
  }
  for (const part of parts) {
    const size = count(part)
    if (tokens + size > maxTokens) finish()
    if (size > maxTokens) {
      found.push(...pieces(part, maxTokens, count, separator ? level + 1 : level))
      continue
    }
    open += open ? joint + part : part
    tokens += size
  }
  finish()
  return found
}

const halves = (text: string): string[] => {
  const letters = [...text]
  const middle = letters.length >> 1
  return [letters.slice(0, middle).join(''), letters.slice(middle).join('')]
}
