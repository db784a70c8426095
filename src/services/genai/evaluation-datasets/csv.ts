/** One record of a CSV file. */
export interface CsvRecord {
  fields: string[]
  /** As a spreadsheet counts: the header is row 1. */
  row: number
  /** The line on which the record begins; differs from the row after a value with line breaks. */
  line: number
}

/** What is wrong with the form of a CSV text, and where. */
export class CsvFault extends Error {
  readonly row: number
  readonly column: number
  constructor(row: number, column: number, message: string) {
    super(message)
    this.row = row
    this.column = column
  }
}

const comma = 44
const quote = 34
const lineFeed = 10
const carriageReturn = 13

/**
 * A CSV parser that is fed piece by piece and never looks at a character twice, however the pieces
 * are cut. Quoted values may hold commas, line breaks and doubled quotes; lines end in LF, CRLF or
 * CR; empty lines are no records. A quote inside a value that does not begin with one is text.
 */
export const csvParser = (limits: { fieldLength: number }) => {
  let mode: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  let fields: string[] = []
  /** What earlier pieces had of the current value. */
  let held = ''
  let row = 1
  let line = 1
  let firstLine = 1
  let skipLineFeed = false
  /** Whether a value of the record was quoted: then even an empty one is a value. */
  let anyQuoted = false
  let fault: CsvFault | undefined

  const hold = (text: string) => {
    held += text
    if (held.length > limits.fieldLength) {
      throw faultHere(`is longer than ${limits.fieldLength} characters`)
    }
  }
  const faultHere = (message: string) => new CsvFault(row, fields.length + 1, message)

  const endField = (rest: string) => {
    if (rest.length > limits.fieldLength) hold(rest)
    fields.push(held === '' ? rest : held + rest)
    held = ''
    mode = 'start'
  }

  const endRecord = (into: CsvRecord[]) => {
    if (fields.length > 1 || fields[0] !== '' || anyQuoted) {
      into.push({ fields, row, line: firstLine })
      row++
    }
    fields = []
    anyQuoted = false
    firstLine = line
  }

  /** The position after a plain value and what ended it. */
  const plain = (text: string, from: number, into: CsvRecord[]): number => {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === comma) {
        endField(text.slice(from, at))
        return at + 1
      }
      if (code === lineFeed || code === carriageReturn) {
        endField(text.slice(from, at))
        line++
        endRecord(into)
        skipLineFeed = code === carriageReturn
        return at + 1
      }
    }
    hold(text.slice(from))
    mode = 'plain'
    return text.length
  }

  const quoted = (text: string, from: number): number => {
    const end = text.indexOf('"', from)
    const part = end < 0 ? text.slice(from) : text.slice(from, end)
    line += lineBreaks(part)
    hold(part)
    if (end < 0) return text.length
    mode = 'closed'
    return end + 1
  }

  /** After a quote inside a quoted value: doubled, or the end of the value. */
  const closed = (text: string, from: number, into: CsvRecord[]): number => {
    const code = text.charCodeAt(from)
    if (code === quote) {
      hold('"')
      mode = 'quoted'
      return from + 1
    }
    if (code !== comma && code !== lineFeed && code !== carriageReturn) {
      throw faultHere(
        'has text after its closing quote; a quote inside a quoted value is written twice',
      )
    }
    endField('')
    if (code === comma) return from + 1
    line++
    endRecord(into)
    skipLineFeed = code === carriageReturn
    return from + 1
  }

  const read = (text: string, records: CsvRecord[]) => {
    let at = 0
    while (at < text.length) {
      if (skipLineFeed) {
        skipLineFeed = false
        if (text.charCodeAt(at) === lineFeed) at++
        continue
      }
      if (mode === 'start' && text.charCodeAt(at) === quote) {
        mode = 'quoted'
        anyQuoted = true
        at++
      } else if (mode === 'quoted') at = quoted(text, at)
      else if (mode === 'closed') at = closed(text, at, records)
      else at = plain(text, at, records)
    }
  }

  const finish = (records: CsvRecord[]) => {
    if (mode === 'quoted') throw faultHere('has an opening quote that is never closed')
    if (fields.length > 0 || mode !== 'start') {
      endField('')
      endRecord(records)
    }
  }

  /** Records before a fault are told; the fault is asked for. */
  const collect = (work: (records: CsvRecord[]) => void): CsvRecord[] => {
    const records: CsvRecord[] = []
    try {
      if (!fault) work(records)
    } catch (error) {
      if (!(error instanceof CsvFault)) throw error
      fault = error
    }
    return records
  }

  return {
    /** The records that end in this piece. */
    push: (text: string) => collect((records) => read(text, records)),
    /** The record that no line break ended. */
    end: () => collect(finish),
    /** What is wrong after the last record told. */
    fault: () => fault,
  }
}

const lineBreaks = (text: string): number => {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
