import { ApiError, messageOf } from '#core/error.ts'
import { type CsvRecord, csvParser } from './csv.ts'

/** What a dataset is for decides its file types and the column that goes to the candidate. */
export type DatasetUse = 'agent' | 'model'

export interface DatasetRow {
  /** From 0. */
  index: number
  input: string
  ground_truth?: string
}

/** Characters of one value; beyond it no model would read it. */
const longestValue = 16 * 1024 * 1024

const inputColumn = { agent: 'query', model: 'input' } as const
const truthColumns = ['ground_truth', 'expected_output', 'expected_response']

const extensions = { agent: ['.csv'], model: ['.csv', '.jsonl'] } as const

/** Refuses a name whose ending is not one of the file types of this use. */
export const datasetFormat = (fileName: string, use: DatasetUse): 'csv' | 'jsonl' => {
  const ending = /\.[^.]*$/.exec(fileName)?.[0].toLowerCase()
  const known: readonly string[] = extensions[use]
  if (ending === undefined || !known.includes(ending)) {
    const kinds = known.join(' or ')
    throw ApiError.invalid(
      `${fileName} must be a ${kinds} file${ending ? `, not ${ending}` : '; its name has no extension'}.`,
    )
  }
  return ending === '.csv' ? 'csv' : 'jsonl'
}

/**
 * The rows of a dataset, some at a time, checked as they come: a fault is an error that names the
 * file, the row and the column. Memory does not grow with the file.
 */
export async function* datasetRows(
  bytes: AsyncIterable<Uint8Array>,
  fileName: string,
  use: DatasetUse,
): AsyncGenerator<DatasetRow[]> {
  const format = datasetFormat(fileName, use)
  const read = format === 'csv' ? csvReader(fileName, use) : jsonlReader(fileName)
  let seen = false
  for await (const text of decoded(bytes, fileName)) {
    seen ||= text.trim() !== ''
    const rows = read.push(text)
    if (rows.length > 0) yield rows
  }
  if (!seen) throw ApiError.invalid(`${fileName} is empty.`)
  const rest = read.end()
  if (rest.length > 0) yield rest
  if (read.count() === 0) throw ApiError.invalid(`${fileName} has a header and no rows.`)
}

/** A byte order mark is dropped; bytes that are not UTF-8 are refused. */
async function* decoded(bytes: AsyncIterable<Uint8Array>, fileName: string) {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (piece?: Uint8Array) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      throw ApiError.invalid(`${fileName} is not text in UTF-8.`)
    }
  }
  for await (const piece of bytes) yield decode(piece)
  yield decode()
}

interface Reader {
  push(text: string): DatasetRow[]
  end(): DatasetRow[]
  count(): number
}

const csvReader = (fileName: string, use: DatasetUse): Reader => {
  const parser = csvParser({ fieldLength: longestValue })
  let header: Header | undefined
  let index = 0

  const place = (row: number, column: string) => `${fileName}: row ${row}, column ${column}`
  const rowsOf = (records: CsvRecord[]): DatasetRow[] => {
    const rows: DatasetRow[] = []
    for (const record of records) {
      if (!header) {
        header = headerOf(fileName, use, record.fields)
        continue
      }
      rows.push(rowOf(header, record))
    }
    return rows
  }
  const rowOf = ({ columns, input: inputAt, truth }: Header, { fields, row, line }: CsvRecord) => {
    if (fields.length !== columns.length) {
      const at = line === row ? `row ${row}` : `row ${row} (line ${line})`
      throw ApiError.invalid(
        `${fileName}: ${at} has ${fields.length} values, but the header has ${columns.length} columns. A value with a comma, a quote or a line break must stand in double quotes, with inner quotes doubled.`,
      )
    }
    const input = fields[inputAt] ?? ''
    if (use === 'agent') checkQuery(input, () => place(row, inputColumn.agent))
    else if (input.trim() === '') {
      throw ApiError.invalid(`${place(row, inputColumn.model)} is empty.`)
    }
    const ground_truth = truth === undefined ? '' : (fields[truth] ?? '')
    return { index: index++, input, ...(ground_truth !== '' && { ground_truth }) }
  }
  const explained = (records: CsvRecord[]): DatasetRow[] => {
    const rows = rowsOf(records)
    const fault = parser.fault()
    if (!fault) return rows
    const column = header?.columns[fault.column - 1] ?? String(fault.column)
    throw ApiError.invalid(`${place(fault.row, column)} ${fault.message}.`)
  }
  return {
    push: (text) => explained(parser.push(text)),
    end: () => explained(parser.end()),
    count: () => index,
  }
}

interface Header {
  columns: string[]
  input: number
  truth?: number
}

const headerOf = (fileName: string, use: DatasetUse, fields: string[]): Header => {
  const columns = fields.map((field) => field.trim())
  const wanted = inputColumn[use]
  const input = columns.indexOf(wanted)
  if (input < 0) {
    const near = columns.find((column) => column.toLowerCase() === wanted)
    throw ApiError.invalid(
      `${fileName}: row 1 has no column named ${wanted}${near ? ` ("${near}" is spelled differently)` : ''}; its columns are ${columns.map((column) => `"${column}"`).join(', ')}.`,
    )
  }
  const twice = columns.find((column, at) => column !== '' && columns.indexOf(column) !== at)
  if (twice !== undefined) {
    throw ApiError.invalid(`${fileName}: row 1 has the column "${twice}" twice.`)
  }
  const truth = truthColumns.map((name) => columns.indexOf(name)).find((at) => at >= 0)
  return { columns, input, ...(truth !== undefined && { truth }) }
}

const checkQuery = (value: string, place: () => string) => {
  const example = 'for example {"question": "What is TLS?"}'
  if (value.trim() === '') {
    throw ApiError.invalid(`${place()} is empty. It must be a JSON object, ${example}.`)
  }
  const parsed = parse(
    value,
    () => `${place()} is not valid JSON`,
    `It must be an object, ${example}`,
  )
  if (!isObject(parsed)) {
    throw ApiError.invalid(`${place()} is ${kindOf(parsed)}. It must be a JSON object, ${example}.`)
  }
}

const jsonlReader = (fileName: string): Reader => {
  let held = ''
  let line = 0
  let index = 0

  const rowOf = (text: string): DatasetRow | undefined => {
    line++
    if (text.trim() === '') return undefined
    const at = `${fileName}: row ${line}`
    const value = parse(text, () => `${at} is not valid JSON`, 'Each line must be one JSON object')
    if (!isObject(value)) {
      throw ApiError.invalid(`${at} is ${kindOf(value)}. Each line must be one JSON object.`)
    }
    const input = textOf(value.input)
    if (input === '') {
      throw ApiError.invalid(
        value.input === undefined ? `${at} has no field input.` : `${at}, field input is empty.`,
      )
    }
    const truth = truthColumns.map((name) => value[name]).find((given) => given != null)
    const ground_truth = textOf(truth)
    return { index: index++, input, ...(ground_truth !== '' && { ground_truth }) }
  }

  return {
    push(text) {
      const rows: DatasetRow[] = []
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const row = rowOf(held + text.slice(from, end))
        if (row) rows.push(row)
        held = ''
        from = end + 1
      }
      held += text.slice(from)
      if (held.length > longestValue) {
        throw ApiError.invalid(
          `${fileName}: row ${line + 1} is longer than ${longestValue} characters.`,
        )
      }
      return rows
    },
    end() {
      const row = held === '' ? undefined : rowOf(held)
      return row ? [row] : []
    },
    count: () => index,
  }
}

const parse = (text: string, place: () => string, rule: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw ApiError.invalid(`${place()} (${messageOf(error)}). ${rule}.`)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a JSON list' : value === null ? 'null' : `a JSON ${typeof value}`

const textOf = (value: unknown): string =>
  value == null ? '' : typeof value === 'string' ? value.trim() && value : JSON.stringify(value)
