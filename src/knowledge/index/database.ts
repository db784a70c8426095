import Libsql from 'libsql'
import type { Document, Metadata } from './index.ts'
import type { TermCounts } from './postings.ts'
import type { Codes } from './vectors.ts'

/** Documents read at a time while opening, so that a server stays responsive meanwhile. */
const pageRows = 100

/**
 * What searches need of all chunks of a document lies in one row, read as a whole; `first` is the
 * number of its first passage, and the others follow.
 */
const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS document (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL, fingerprint TEXT NOT NULL,
    bytes INTEGER NOT NULL, metadata TEXT NOT NULL, first INTEGER NOT NULL, fields TEXT NOT NULL,
    scales BLOB NOT NULL, terms BLOB NOT NULL, codes BLOB NOT NULL, UNIQUE (source, path));
  CREATE INDEX IF NOT EXISTS document_first ON document (first);
  CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL, metadata TEXT NOT NULL,
    text TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS passage_document ON passage (document);
  CREATE TABLE IF NOT EXISTS term (id INTEGER PRIMARY KEY, term TEXT NOT NULL);
`

/** A chunk without its text, which is read only for results. */
export interface StoredChunk {
  metadata: Metadata
  terms: TermCounts
  codes: Codes
}

export interface StoredDocument {
  id: number
  document: Document
  /** Number of the first chunk's passage. */
  first: number
  chunks: StoredChunk[]
}

type Row = [
  ...[id: number, source: string, path: string, fingerprint: string, bytes: number],
  ...[metadata: string, first: number, fields: string],
  ...[scales: Uint8Array, terms: Uint8Array, codes: Uint8Array],
]

/** The file in which an index is kept. */
export class IndexFile {
  readonly #db: Libsql.Database
  readonly #prepared = new Map<string, Libsql.Statement<unknown[]>>()

  constructor(path: string) {
    this.#db = new Libsql(path)
    this.#db.exec(schema)
  }

  /** A statement, prepared once; rows are lists of values. */
  #sql(text: string): Libsql.Statement<unknown[]> {
    let statement = this.#prepared.get(text)
    if (!statement) {
      statement = this.#db.prepare(text)
      if (/^SELECT|RETURNING/.test(text)) statement.raw()
      this.#prepared.set(text, statement)
    }
    return statement
  }

  /** All or nothing. */
  transaction<R>(work: () => R): R {
    return this.#db.transaction(work).immediate() as R
  }

  terms(): [id: number, term: string][] {
    return this.#sql('SELECT id, term FROM term').all() as [number, string][]
  }

  addTerm(term: string): number {
    return Number(this.#sql('INSERT INTO term (term) VALUES (?)').run(term).lastInsertRowid)
  }

  /** In the order in which they were written, page by page; lets other work run between pages. */
  async *documents(): AsyncGenerator<StoredDocument[]> {
    for (let last = 0; ; ) {
      const rows = this.#sql(
        `SELECT id, source, path, fingerprint, bytes, metadata, first, fields, scales, terms, codes
         FROM document WHERE first > ? ORDER BY first LIMIT ?`,
      ).all(last, pageRows) as Row[]
      yield rows.map(storedDocument)
      if (rows.length < pageRows) return
      last = rows.at(-1)?.[6] ?? 0
      await new Promise((resume) => setImmediate(resume))
    }
  }

  /** Writes a new document with its chunks and their texts; answers its id and first passage. */
  add(document: Document, chunks: readonly StoredChunk[], texts: readonly string[]) {
    const [id] = this.#sql(
      `INSERT INTO document (source, path, fingerprint, bytes, metadata, first, fields, scales, terms, codes)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?) RETURNING id`,
    ).get(
      document.source,
      document.path,
      document.fingerprint,
      document.bytes,
      JSON.stringify(document.metadata),
      JSON.stringify(chunks.map(({ metadata }) => metadata)),
      asBytes(Float32Array.from(chunks, ({ codes }) => codes.scale)),
      Buffer.concat(chunks.flatMap(({ terms }) => [lengthOf(terms), asBytes(terms)])),
      Buffer.concat(chunks.map(({ codes }) => asBytes(codes.codes))),
    ) as [number]
    let first = 0
    for (const [at, { metadata }] of chunks.entries()) {
      const { lastInsertRowid } = this.#sql(
        'INSERT INTO passage (document, metadata, text) VALUES (?, ?, ?)',
      ).run(id, JSON.stringify(metadata), texts[at] ?? '')
      first ||= Number(lastInsertRowid)
    }
    this.#sql('UPDATE document SET first = ? WHERE id = ?').run(first, id)
    return { id, first }
  }

  /** Changes what is known of a document; its chunks stay. */
  describe(id: number, { fingerprint, bytes, metadata }: Document): void {
    this.#sql('UPDATE document SET fingerprint = ?, bytes = ?, metadata = ? WHERE id = ?').run(
      fingerprint,
      bytes,
      JSON.stringify(metadata),
      id,
    )
  }

  /** What was kept of a document, which is gone then. */
  remove(id: number): StoredChunk[] {
    const chunks = this.chunksOf(id)
    this.#sql('DELETE FROM passage WHERE document = ?').run(id)
    this.#sql('DELETE FROM document WHERE id = ?').run(id)
    return chunks
  }

  chunksOf(id: number): StoredChunk[] {
    const row = this.#sql(
      `SELECT id, source, path, fingerprint, bytes, metadata, first, fields, scales, terms, codes
       FROM document WHERE id = ?`,
    ).get(id) as Row | undefined
    return row ? storedDocument(row).chunks : []
  }

  /** A chunk as a result shows it; its fields come after, and win over, its document's. */
  read(passage: number): { text: string; metadata: Metadata } | undefined {
    const row = this.#sql(
      `SELECT passage.text, document.metadata, passage.metadata FROM passage
       JOIN document ON document.id = passage.document WHERE passage.id = ?`,
    ).get(passage) as [string, string, string] | undefined
    if (!row) return undefined
    return { text: row[0], metadata: { ...JSON.parse(row[1]), ...JSON.parse(row[2]) } }
  }

  close(): void {
    this.#db.close()
  }
}

const storedDocument = (row: Row): StoredDocument => {
  const [id, source, path, fingerprint, bytes, metadata, first, fields, scales, terms, codes] = row
  const own: Metadata[] = JSON.parse(fields)
  const scale = new Float32Array(aligned(scales))
  const counts = new Uint32Array(aligned(terms))
  const width = codes.length / Math.max(1, own.length)
  let at = 0
  const chunks = own.map((metadata, index) => {
    const from = at + 1
    at = from + (counts[at] ?? 0)
    return {
      metadata,
      terms: counts.subarray(from, at),
      codes: {
        codes: new Int8Array(codes.buffer, codes.byteOffset + index * width, width),
        scale: scale[index] ?? 0,
      },
    }
  })
  const document = { source, path, fingerprint, bytes, metadata: JSON.parse(metadata) }
  return { id, document, first, chunks }
}

const asBytes = (numbers: Uint32Array | Float32Array | Int8Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)

const lengthOf = (terms: TermCounts): Buffer => asBytes(Uint32Array.of(terms.length))

/** A copy, since a row's bytes may begin anywhere. */
const aligned = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer
