import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { chunkDocument, embeddingText } from '../chunk.ts'
import { parseFile } from './formats.ts'
import { kindOf } from './kinds.ts'

const sample = (name: string) =>
  parseFile(readFileSync(projectFile(`test/documents/${name}`)), name)
const written = (name: string, text: string) => parseFile(Buffer.from(text), name)
const words = (text: string) => text.split(/\s+/).filter(Boolean).length

test.each(['handbook.md', 'handbook.html', 'handbook.docx'])(
  '%s, made by pandoc, keeps its headings, paragraphs and tables',
  async (name) => {
    const { title, blocks } = await sample(name)
    expect(title).toBe('Greenhouse handbook')
    const drip = blocks.find(({ text }) => text.includes('vinegar'))
    expect(drip?.headings.slice(-2)).toEqual(['Watering', 'Drip lines'])
    const table = blocks.find(({ text }) => text.includes('Basil'))
    expect(table?.headings.at(-1)).toBe('Heating')
    expect(table?.text).toMatch(/Basil *\| *16 *\| *24/)
  },
)

test('a PDF, made by groff, is read page by page', async () => {
  const { blocks, metadata } = await sample('handbook.pdf')
  expect(metadata).toMatchObject({ pages: 2 })
  expect(blocks.find(({ text }) => text.includes('vinegar'))?.page).toBe(1)
  expect(blocks.find(({ text }) => text.includes('burner'))?.page).toBe(2)
})

test('plain text is read in paragraphs', async () => {
  const { blocks } = await sample('handbook.txt')
  expect(blocks.map(({ text }) => text)).toContain(
    'Keep the burner below forty per cent in spring.',
  )
})

test('rows and items carry the names of their fields', async () => {
  expect((await sample('shop.csv')).blocks.map(({ text }) => text)).toEqual([
    'name: Tomato, red\nprice: 2.5\nstock: 14',
    'name: Basil\nprice: 1.2',
  ])
  expect((await written('x.csv', 'a;b\n1;2\n')).blocks[0]?.text).toBe('a: 1\nb: 2')
  const { blocks } = await sample('shop.json')
  expect(blocks).toContainEqual({ text: 'name: Basil\nprice: 1.2', headings: ['items'] })
  expect(blocks).toContainEqual({ text: 'shop: Green', headings: [] })
  expect((await sample('shop.jsonl')).blocks.map(({ text }) => text)).toEqual([
    'name: Tomato\nprice: 2.5',
    'name: Basil\nprice: 1.2',
  ])
})

test('source code is cut between its definitions', async () => {
  const { blocks } = await written(
    'a.py',
    'import os\n\ndef one():\n    a = 1\n\n    return a\n\ndef two():\n    pass\n',
  )
  expect(blocks.map(({ text }) => text.split('\n')[0])).toEqual([
    'import os',
    'def one():',
    'def two():',
  ])
})

test('front matter becomes fields that filters can use', async () => {
  const { title, metadata, blocks } = await written(
    'a.md',
    '---\ntitle: T\nyear: 2026\ndraft: false\ndate: 2026-03-01\ntags: [a, b]\nnested: {x: 1}\n---\ntext\n',
  )
  expect(title).toBe('T')
  expect(metadata).toEqual({ year: 2026, draft: 'false', date: '2026-03-01', tags: ['a', 'b'] })
  expect(blocks).toEqual([{ text: 'text', headings: [] }])
})

test('a heading inside a fenced block is code, and an underlined line is a heading', async () => {
  const { blocks } = await written(
    'a.md',
    'Title\n=====\n\n```sh\n# not a heading\n\nmore\n```\n\n## Sub *b* [l](u)\nx\n',
  )
  expect(blocks).toEqual([
    { text: '```sh\n# not a heading\n\nmore\n```', headings: ['Title'] },
    { text: 'x', headings: ['Title', 'Sub b l'] },
  ])
})

test('scripts, styles and navigation of a page are left out', async () => {
  const { blocks } = await written(
    'a.html',
    '<nav>Home</nav><script>x()</script><h1>A</h1><p>one <b>two</b></p><ul><li>x</li><li>y</li></ul><pre>a\n  b</pre>',
  )
  expect(blocks.map(({ text }) => text)).toEqual(['one two', 'x\ny', 'a\n  b'])
})

describe('a file that cannot be read is told in a clause', () => {
  test.each([
    ['encrypted.pdf', 'is encrypted'],
    ['cut.pdf', 'is not a readable PDF'],
  ])('%s %s', (name, reason) => expect(sample(name)).rejects.toThrow(reason))

  test.each([
    ['broken.docx', 'not a zip', 'is not a readable DOCX'],
    ['old.docx', '\u00d0\u00cf\u0011\u00e0', 'is encrypted, or in the old DOC format'],
    ['a.json', '{', 'is not valid JSON'],
    ['a.jsonl', '{}\n{', 'has a line 2 that is not valid JSON'],
    ['a.md', '---\na: [\n---\n', 'has front matter that is not valid YAML'],
    ['a.txt', 'a\u0000b', 'is not text'],
    ['a.txt', '', 'is empty'],
    ['a.md', '# only a heading\n', 'holds no text'],
    ['a.xyz', 'text', 'is of a kind that is not read'],
  ])('%s with %j %s', (name, text, reason) =>
    expect(parseFile(Buffer.from(text, 'latin1'), name)).rejects.toThrow(reason),
  )
})

test('kinds go by the extension, or by the whole name', () => {
  expect(kindOf('README.md')).toBe('markdown')
  expect(kindOf('Makefile')).toBe('code')
  expect(kindOf('photo.JPG')).toBe(undefined)
})

describe('chunks', () => {
  const chunking = { by: 'section', maxTokens: 20 } as const

  test('never span two sections, are numbered, and know their headings', async () => {
    const parsed = await sample('handbook.md')
    const passages = chunkDocument(parsed, { ...chunking, maxTokens: 200 }, words)
    expect(passages.map(({ metadata }) => metadata)).toEqual([
      { section: 'Watering', chunk_number: 1 },
      { section: 'Watering > Drip lines', chunk_number: 2 },
      { section: 'Heating', chunk_number: 3 },
    ])
    expect(passages[1]?.heading).toBe('Greenhouse handbook > Watering > Drip lines')
    expect(passages[1] && embeddingText(passages[1])).toMatch(/^Greenhouse handbook .*\nFlush/)
  })

  test('of fixed length are filled up regardless of sections', async () => {
    const passages = chunkDocument(
      await sample('handbook.md'),
      { by: 'fixed', maxTokens: 200 },
      words,
    )
    expect(passages).toHaveLength(1)
  })

  test('hold no more than they may, and lose no word', () => {
    const text = Array.from({ length: 30 }, (_, at) => `Sentence number ${at} is here.`).join(' ')
    const passages = chunkDocument(
      { blocks: [{ text, headings: [] }], metadata: {} },
      chunking,
      words,
    )
    expect(Math.max(...passages.map((passage) => words(passage.text)))).toBeLessThanOrEqual(20)
    expect(passages.map((passage) => passage.text).join(' ')).toBe(text)
    expect(passages.every((passage) => passage.text.endsWith('here.'))).toBe(true)
  })

  test('are cut also where there is no place to cut', () => {
    const text = 'x'.repeat(5000)
    const passages = chunkDocument(
      { blocks: [{ text, headings: [] }], metadata: {} },
      chunking,
      words,
    )
    expect(passages.map((passage) => passage.text).join('')).toBe(text)
    expect(Math.max(...passages.map((passage) => passage.text.length))).toBeLessThanOrEqual(320)
  })
})
