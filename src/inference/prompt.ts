import type { Surface } from './endpoint.ts'

type Body = Readonly<Record<string, unknown>>

interface Message {
  role?: unknown
  content?: unknown
}

/** Characters of standing instructions that count: what was said last must be heard beside them. */
const standingShare = 200

/**
 * What a request is about: its instructions and what the person said last. Earlier turns are left
 * out, since a conversation may have changed its subject.
 */
export const promptText = (surface: Surface, body: Body): string => {
  if (surface === 'embeddings') return ''
  if (typeof body.input === 'string') {
    return joined([textOf(body.instructions).slice(0, standingShare), body.input])
  }
  const messages = listOf(surface === 'responses' ? body.input : body.messages)
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer')
  const said = messages.findLast(({ role }) => role === 'user')
  const standing = joined([
    textOf(body.instructions),
    ...instructions.map(({ content }) => textOf(content)),
  ])
  return joined([standing.slice(0, standingShare), textOf(said?.content)])
}

/** Characters of everything that is sent, for an estimate of its tokens. */
export const promptLength = (surface: Surface, body: Body): number => {
  if (surface === 'embeddings') return lengthOf(body.input)
  return (
    lengthOf(body.instructions) +
    (surface === 'responses' ? lengthOf(body.input) : lengthOf(body.messages)) +
    lengthOf(body.tools)
  )
}

/** The most tokens the caller wants back, in the words of either API. */
export const outputLimit = (body: Body): number | undefined => {
  for (const limit of [body.max_completion_tokens, body.max_tokens, body.max_output_tokens]) {
    if (typeof limit === 'number') return limit
  }
  return undefined
}

const listOf = (value: unknown): Message[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []

/** Content is text, or parts of which some are text. */
const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return joined(content.map((part) => (typeof part?.text === 'string' ? part.text : '')))
}

const joined = (parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join('\n\n')

/** Characters in all texts of a value; a picture's bytes are not words. */
const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.startsWith('data:') ? 1000 : value.length
  if (typeof value !== 'object' || value === null) return 0
  let total = 0
  for (const part of Object.values(value)) total += lengthOf(part)
  return total
}
