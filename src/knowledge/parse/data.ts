import { parse as parseRows } from 'csv-parse/sync'
import { type Block, type Parser, textOf, Unreadable } from './document.ts'

/** A row is a block: a line for each filled column, with the column's name. */
export const parseCsv: Parser = (bytes, name) => {
  const text = textOf(bytes)
  const delimiter = name.toLowerCase().endsWith('.tsv') ? '\t' : commonest(text)
  let rows: Record<string, string>[]
  try {
    rows = parseRows(text, {
      columns: true,
      bom: true,
      delimiter,
      skip_empty_lines: true,
      relax_column_count: true,
      relax_quotes: true,
    })
  } catch (cause) {
    throw new Unreadable(`is not a readable table (${(cause as Error).message})`, { cause })
  }
  const blocks = rows.map((row) => ({
    text: Object.entries(row)
      .filter(([, value]) => value !== '')
      .map(([column, value]) => `${column}: ${value}`)
      .join('\n'),
    headings: [],
  }))
  return { blocks: blocks.filter(({ text }) => text !== ''), metadata: {} }
}

/** Spreadsheets of some countries write semicolons: the separator is what the first line has most of. */
const commonest = (text: string): string => {
  const [first = ''] = text.split('\n', 1)
  const [separator = ','] = [',', ';', '\t'].sort(
    (a, b) => first.split(b).length - first.split(a).length,
  )
  return separator
}

/** The items of a list, and the fields of the outermost object, are blocks of `path: value` lines. */
export const parseJson: Parser = (bytes) => ({
  blocks: jsonBlocks(parseJsonText(textOf(bytes), 'is not valid JSON')),
  metadata: {},
})

export const parseJsonLines: Parser = (bytes) => ({
  blocks: textOf(bytes)
    .split('\n')
    .flatMap((line, at) =>
      line.trim() === ''
        ? []
        : block(lines(parseJsonText(line, `has a line ${at + 1} that is not valid JSON`)), []),
    ),
  metadata: {},
})

const parseJsonText = (text: string, fault: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new Unreadable(`${fault} (${(cause as Error).message})`, { cause })
  }
}

const jsonBlocks = (value: unknown): Block[] => {
  if (Array.isArray(value)) return value.flatMap((item) => block(lines(item), []))
  if (typeof value !== 'object' || value === null) return block(lines(value), [])
  return Object.entries(value).flatMap(([key, part]) =>
    Array.isArray(part) && part.some((item) => typeof item === 'object')
      ? part.flatMap((item) => block(lines(item), [key]))
      : block(lines(part, key), []),
  )
}

const block = (content: readonly string[], headings: readonly string[]): Block[] =>
  content.length ? [{ text: content.join('\n'), headings }] : []

const lines = (value: unknown, path = ''): string[] => {
  if (value === null || value === undefined || value === '') return []
  if (typeof value !== 'object') return [path ? `${path}: ${String(value)}` : String(value)]
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return value.length ? [`${path ? `${path}: ` : ''}${value.join(', ')}`] : []
  return Object.entries(value).flatMap(([key, part]) => lines(part, path ? `${path}.${key}` : key))
}
