import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Chunking, embeddingText } from './chunk.ts'
import type { Embedder } from './embed/embedder.ts'
import type { Document, Index, Metadata } from './index/index.ts'
import { Unreadable } from './parse/document.ts'
import { kindOf, mostBytes } from './parse/kinds.ts'
import type { WorkerPool } from './pool.ts'

/** A file of a source, before it is read. */
export interface SourceFile {
  /** Its name within the source: `guide/install.md`. */
  path: string
  /** Where its bytes are. */
  file: string
  bytes: number
  modified: Date
}

export interface Source {
  uuid: string
  files: readonly SourceFile[]
  chunking: Chunking
  /** Fields that every chunk gets besides its own. */
  metadata: Metadata
}

export interface Skipped {
  path: string
  reason: string
  /** Not broken, only of a kind that is not read. */
  expected: boolean
}

/** How far a source is, and what became of its files. */
export interface SourceReport {
  files: number
  bytes: number
  /** Files that are done with, whatever became of them, and their bytes. */
  doneFiles: number
  doneBytes: number
  indexed: number
  unchanged: number
  removed: number
  /** Chunks that were embedded. */
  chunks: number
  /** Estimated from the text that was embedded. */
  tokens: number
  skipped: Skipped[]
}

export interface SyncOptions {
  signal: AbortSignal
  progress(report: SourceReport): void
}

export interface SyncParts {
  index: Index
  embedder: Embedder
  pool: Pick<WorkerPool, 'read'>
}

/** Documents under way at a time: while one is embedded, the next is read. */
const parallel = 4
/** Characters of English text that are about one token. */
const charactersPerToken = 4

export const syncSource = async (
  parts: SyncParts,
  source: Source,
  { signal, progress }: SyncOptions,
): Promise<SourceReport> => {
  const { index } = parts
  const known = await index.documents(source.uuid)
  const report: SourceReport = {
    files: source.files.length,
    bytes: source.files.reduce((sum, { bytes }) => sum + bytes, 0),
    ...{ doneFiles: 0, doneBytes: 0, indexed: 0, unchanged: 0, removed: 0, chunks: 0, tokens: 0 },
    skipped: [],
  }
  progress(report)

  const present = new Set(source.files.map(({ path }) => path))
  const gone = [...known.keys()].filter((path) => !present.has(path))
  if (gone.length > 0) await index.delete(source.uuid, gone)
  report.removed = gone.length

  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  // Every batch that waits for its vectors listens.
  setMaxListeners(0, ended)
  const queue = source.files.values()
  const work = async () => {
    for (const file of queue) {
      ended.throwIfAborted()
      await syncFile(parts, source, file, known.get(file.path), report, ended)
      report.doneFiles++
      report.doneBytes += file.bytes
      progress(report)
    }
  }
  // The first failure ends the others too, and is the one that is told.
  const workers = Array.from({ length: parallel }, () =>
    work().catch((error: unknown) => {
      stop.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(workers)
  ended.throwIfAborted()
  report.skipped.sort((a, b) => (a.path < b.path ? -1 : 1))
  return report
}

const syncFile = async (
  { index, embedder, pool }: SyncParts,
  source: Source,
  file: SourceFile,
  before: Document | undefined,
  report: SourceReport,
  signal: AbortSignal,
): Promise<void> => {
  try {
    const bytes = await bytesOf(file)
    const document = describe(source, file, bytes)
    if (before?.fingerprint === document.fingerprint) {
      report.unchanged++
      // What the parser found is kept with the chunks' document; only the file's own facts changed.
      const metadata = { ...before.metadata, ...document.metadata }
      if (JSON.stringify(metadata) !== JSON.stringify(before.metadata))
        await index.describe({ ...document, metadata })
      return
    }
    const { title, metadata, passages } = await pool.read(
      basename(file.path),
      bytes,
      source.chunking,
    )
    const texts = passages.map(embeddingText)
    const vectors = await embedder.embed(texts, { signal })
    await index.upsert(
      {
        ...document,
        metadata: { ...metadata, ...(title && { title }), ...document.metadata },
      },
      passages.map((passage, at) => ({ ...passage, vector: vectors[at] ?? new Float32Array() })),
    )
    report.indexed++
    report.chunks += passages.length
    for (const text of texts) report.tokens += Math.ceil(text.length / charactersPerToken)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const expected = !kindOf(file.path)
    report.skipped.push({ path: file.path, reason: error.message, expected })
    // What it held before it became unreadable is no longer what it says.
    if (before) await index.delete(source.uuid, [file.path])
  }
}

const bytesOf = async ({ path, file, bytes }: SourceFile): Promise<Uint8Array> => {
  if (!kindOf(path)) throw new Unreadable('is of a kind that is not read')
  if (bytes > mostBytes) throw new Unreadable(`is larger than ${mostBytes / 1024 / 1024} MB`)
  return readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new Unreadable(`cannot be read (${cause.code ?? cause.message})`, { cause })
  })
}

const describe = (source: Source, file: SourceFile, bytes: Uint8Array): Document => ({
  source: source.uuid,
  path: file.path,
  fingerprint: createHash('sha256')
    .update(JSON.stringify([readerVersion, source.chunking, basename(file.path)]))
    .update(bytes)
    .digest('hex'),
  bytes: file.bytes,
  metadata: {
    ...source.metadata,
    source_name: basename(file.path),
    path: file.path,
    modified_at: file.modified.toISOString(),
  },
})

/** Raise it when parsers or the chunker come to other results: everything is then read anew. */
const readerVersion = 1
