import Libsql from 'libsql'
import type { Document, Metadata } from './index.ts'
import type { TermCounts } from './postings.ts'
import type { Codes } from './vectors.ts'

/** Rows read at a time while opening, so that a server stays responsive meanwhile. */
const pageRows = 2000

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS document (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL, fingerprint TEXT NOT NULL,
    bytes INTEGER NOT NULL, metadata TEXT NOT NULL, UNIQUE (source, path));
  CREATE TABLE IF NOT EXISTS chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL, metadata TEXT NOT NULL,
    terms BLOB NOT NULL, codes BLOB NOT NULL, scale REAL NOT NULL);
  CREATE INDEX IF NOT EXISTS chunk_document ON chunk (document);
  CREATE TABLE IF NOT EXISTS passage (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS term (id INTEGER PRIMARY KEY, term TEXT NOT NULL);
`

/** A chunk without its text, which is read only for results. */
export interface StoredChunk {
  id: number
  document: number
  metadata: Metadata
  terms: TermCounts
  codes: Codes
}

type ChunkRow = [number, number, string, Uint8Array, Uint8Array, number]
type DocumentRow = [number, string, string, string, number, string]

/** The file in which an index is kept. */
export class IndexFile {
  readonly #db: Libsql.Database

  constructor(path: string) {
    this.#db = new Libsql(path)
    this.#db.exec(schema)
  }

  /** All or nothing. */
  transaction<R>(work: () => R): R {
    return this.#db.transaction(work).immediate() as R
  }

  terms(): [id: number, term: string][] {
    return this.#db.prepare('SELECT id, term FROM term').raw().all() as [number, string][]
  }

  addTerm(term: string): number {
    const added = this.#db.prepare('INSERT INTO term (term) VALUES (?)').run(term)
    return Number(added.lastInsertRowid)
  }

  documents(): [id: number, document: Document][] {
    const rows = this.#db
      .prepare('SELECT id, source, path, fingerprint, bytes, metadata FROM document')
      .raw()
      .all() as DocumentRow[]
    return rows.map(([id, source, path, fingerprint, bytes, metadata]) => [
      id,
      { source, path, fingerprint, bytes, metadata: JSON.parse(metadata) },
    ])
  }

  /** Answers the document's id, which stays as it is replaced. */
  putDocument({ source, path, fingerprint, bytes, metadata }: Document): number {
    const [id] = this.#db
      .prepare(
        `INSERT INTO document (source, path, fingerprint, bytes, metadata) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (source, path) DO UPDATE SET fingerprint = excluded.fingerprint,
           bytes = excluded.bytes, metadata = excluded.metadata RETURNING id`,
      )
      .raw()
      .get(source, path, fingerprint, bytes, JSON.stringify(metadata)) as [number]
    return id
  }

  removeDocument(id: number): void {
    this.#db.prepare('DELETE FROM document WHERE id = ?').run(id)
  }

  /** In order of their ids, page by page; lets other work run between pages. */
  async *chunks(): AsyncGenerator<StoredChunk> {
    const page = this.#db
      .prepare(
        'SELECT id, document, metadata, terms, codes, scale FROM chunk WHERE id > ? ORDER BY id LIMIT ?',
      )
      .raw()
    for (let last = 0; ; ) {
      const rows = page.all(last, pageRows) as ChunkRow[]
      for (const row of rows) yield storedChunk(row)
      if (rows.length < pageRows) return
      last = rows.at(-1)?.[0] ?? 0
      await new Promise((resume) => setImmediate(resume))
    }
  }

  /** Answers its id, higher than any before. */
  addChunk(chunk: Omit<StoredChunk, 'id'>, text: string): number {
    const added = this.#db
      .prepare('INSERT INTO chunk (document, metadata, terms, codes, scale) VALUES (?, ?, ?, ?, ?)')
      .run(
        chunk.document,
        JSON.stringify(chunk.metadata),
        packTerms(chunk.terms),
        Buffer.from(
          chunk.codes.codes.buffer,
          chunk.codes.codes.byteOffset,
          chunk.codes.codes.length,
        ),
        chunk.codes.scale,
      )
    const id = Number(added.lastInsertRowid)
    this.#db.prepare('INSERT INTO passage (id, text) VALUES (?, ?)').run(id, text)
    return id
  }

  /** Answers the terms of each, in order of the chunks' ids. */
  removeChunks(document: number): TermCounts[] {
    const rows = this.#db
      .prepare('SELECT id, terms FROM chunk WHERE document = ? ORDER BY id')
      .raw()
      .all(document) as [number, Uint8Array][]
    this.#db
      .prepare('DELETE FROM passage WHERE id IN (SELECT id FROM chunk WHERE document = ?)')
      .run(document)
    this.#db.prepare('DELETE FROM chunk WHERE document = ?').run(document)
    return rows.map(([, terms]) => unpackTerms(terms))
  }

  /** Own fields of each chunk of a document, in order of their ids. */
  metadataOf(document: number): Metadata[] {
    const rows = this.#db
      .prepare('SELECT metadata FROM chunk WHERE document = ? ORDER BY id')
      .raw()
      .all(document) as [string][]
    return rows.map(([metadata]) => JSON.parse(metadata))
  }

  /** A chunk as a result shows it; its fields come after, and win over, its document's. */
  read(id: number): { text: string; metadata: Metadata } | undefined {
    const row = this.#db
      .prepare(
        `SELECT passage.text, document.metadata, chunk.metadata FROM passage
         JOIN chunk ON chunk.id = passage.id JOIN document ON document.id = chunk.document
         WHERE passage.id = ?`,
      )
      .raw()
      .get(id) as [string, string, string] | undefined
    if (!row) return undefined
    return { text: row[0], metadata: { ...JSON.parse(row[1]), ...JSON.parse(row[2]) } }
  }

  close(): void {
    this.#db.close()
  }
}

const storedChunk = ([id, document, metadata, terms, codes, scale]: ChunkRow): StoredChunk => ({
  id,
  document,
  metadata: JSON.parse(metadata),
  terms: unpackTerms(terms),
  codes: { codes: new Int8Array(codes.buffer, codes.byteOffset, codes.length), scale },
})

/** Pairs of 32-bit numbers: the term, how often it occurs. */
const packTerms = (terms: TermCounts): Buffer => {
  const packed = Uint32Array.from([...terms].flat())
  return Buffer.from(packed.buffer)
}

const unpackTerms = (bytes: Uint8Array): TermCounts => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const terms = new Map<number, number>()
  for (let at = 0; at < bytes.length; at += 8)
    terms.set(view.getUint32(at, true), view.getUint32(at + 4, true))
  return terms
}
