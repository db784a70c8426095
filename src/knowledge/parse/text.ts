import { type Block, type Parser, textOf } from './document.ts'

export const parseText: Parser = (bytes) => ({
  blocks: paragraphs(textOf(bytes)).map((text) => ({ text, headings: [] })),
  metadata: {},
})

export const paragraphs = (text: string): string[] =>
  text
    .split(/\r?\n[ \t]*\r?\n/)
    .map((part) => part.trimEnd())
    .filter((part) => part.trim() !== '')

/** Source code: a block begins where a blank line is followed by a line that is not indented. */
export const parseCode: Parser = (bytes) => {
  const blocks: Block[] = []
  let lines: string[] = []
  const finish = () => {
    const text = lines.join('\n').trimEnd()
    if (text.trim()) blocks.push({ text, headings: [] })
    lines = []
  }
  for (const line of textOf(bytes).split(/\r?\n/)) {
    if (lines.at(-1)?.trim() === '' && /^[^\s)}\]]/.test(line)) finish()
    lines.push(line)
  }
  finish()
  return { blocks, metadata: {} }
}
