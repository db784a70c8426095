import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { checkDataset } from './check.ts'
import { csvParser } from './csv.ts'

/** All records of a text that comes in pieces of the given length. */
const read = (text: string, piece: number): string[][] => {
  const parser = csvParser({ fieldLength: 1_000_000 })
  const records = []
  for (let at = 0; at < text.length; at += piece)
    records.push(...parser.push(text.slice(at, at + piece)))
  records.push(...parser.end())
  expect(parser.fault()).toBeUndefined()
  return records.map(({ fields }) => fields)
}

const values = [
  '',
  'a',
  'two words',
  'a,b',
  'say "hi"',
  'line\nbreak',
  'cr\r\nlf',
  '"',
  ' x ',
  'naïve 😀',
  '{"q": "a, b"}',
]

/** The same table as another writer would spell it. */
const written = (table: string[][], end: string): string =>
  table
    .map((row) =>
      row
        .map((value) =>
          /[",\r\n]/.test(value) || value === '' ? `"${value.replaceAll('"', '""')}"` : value,
        )
        .join(','),
    )
    .join(end)

test('any table is read as csv-parse reads it, however it is cut', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return seed % below
  }
  for (let round = 0; round < 300; round++) {
    const width = 1 + random(4)
    const table = Array.from({ length: 1 + random(6) }, () =>
      Array.from({ length: width }, () => values[random(values.length)] ?? ''),
    )
    const end = ['\n', '\r\n', '\r'][random(3)] ?? '\n'
    const text = written(table, end) + (random(2) ? end : '')
    const theirs = parse(text, { record_delimiter: [end], skip_empty_lines: true })
    expect(read(text, 1 + random(9))).toEqual(theirs)
    expect(read(text, text.length)).toEqual(theirs)
  }
})

test('empty lines are no records, and a quote inside a plain value is text', () => {
  expect(read('a\n\n\nb\r\n\r\n""\n', 3)).toEqual([['a'], ['b'], ['']])
  expect(read('{"a":1}\n5" disk,x\n', 4)).toEqual([['{"a":1}'], ['5" disk', 'x']])
})

async function* bytes(count: number, line: string) {
  yield Buffer.from('\ufeffinput,ground_truth\r\n')
  const block = Buffer.from(line.repeat(1000))
  for (let at = 0; at < count; at += 1000) yield block
}

test('a million rows are checked in constant memory', async () => {
  const before = process.memoryUsage().heapUsed
  const line = '"What is, exactly, ""TLS""?",A protocol.\r\n'
  const facts = await checkDataset(bytes(1_000_000, line), 'big.csv', 'model')
  expect(facts).toMatchObject({ rows: 1_000_000, has_ground_truth: true })
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150e6)
})

test('the row of a fault is told as a spreadsheet counts, and its line where that differs', async () => {
  const text = 'query,note\n{},"two\nlines"\n{},a,b\n'
  await expect(checkDataset(pieces(text), 'q.csv', 'agent')).rejects.toThrow(
    'q.csv: row 3 (line 4) has 3 values',
  )
})

test('a value of many megabytes is read, and one without an end is refused', async () => {
  const large = 'x'.repeat(12_000_000)
  expect(
    (await checkDataset(pieces(`input\n"${large}"\n`), 'l.csv', 'model')).input_characters,
  ).toBe(12_000_000)
  await expect(
    checkDataset(pieces(`input\n"${large}${large}\n`), 'l.csv', 'model'),
  ).rejects.toThrow('row 2, column input is longer than')
  await expect(
    checkDataset(pieces(`{"input":"${large}${large}`), 'l.jsonl', 'model'),
  ).rejects.toThrow('row 1 is longer than')
})

async function* pieces(text: string) {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += 65_536) yield all.subarray(at, at + 65_536)
}
