import { parseCsv, parseJson, parseJsonLines } from './data.ts'
import { type Parsed, type Parser, Unreadable } from './document.ts'
import { parseDocx } from './docx.ts'
import { parseHtml } from './html.ts'
import { type Kind, kindOf, mostBytes } from './kinds.ts'
import { parseMarkdown } from './markdown.ts'
import { parsePdf } from './pdf.ts'
import { parseCode, parseText } from './text.ts'

const parsers: Record<Kind, Parser> = {
  text: parseText,
  markdown: parseMarkdown,
  html: parseHtml,
  pdf: parsePdf,
  docx: parseDocx,
  table: parseCsv,
  json: parseJson,
  jsonLines: parseJsonLines,
  code: parseCode,
}

export const parseFile = async (bytes: Uint8Array, name: string): Promise<Parsed> => {
  const kind = kindOf(name)
  if (!kind) throw new Unreadable('is of a kind that is not read')
  if (bytes.length > mostBytes) throw new Unreadable(`is larger than ${mostBytes / 1024 / 1024} MB`)
  if (bytes.length === 0) throw new Unreadable('is empty')
  const parsed = await parsers[kind](bytes, name)
  if (parsed.blocks.length === 0) throw new Unreadable('holds no text')
  return parsed
}
