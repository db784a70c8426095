import type { Filter } from '../filter.ts'

export type MetadataValue = string | number | readonly (string | number)[]

/** What is known of a chunk beside its text; filters compare it. */
export type Metadata = Readonly<Record<string, MetadataValue>>

export interface Chunk {
  text: string
  /** The headings it stands under, which count for more than the text; not part of `text`. */
  heading: string
  /** Its own fields; those of its document apply to it too. */
  metadata: Metadata
  /** Of length 1. */
  vector: Float32Array
}

/** A file as the index knows it: replaced as a whole, never in part. */
export interface Document {
  /** The data source it came from. */
  source: string
  /** Its name within the source. */
  path: string
  /** Changes when its chunks would. */
  fingerprint: string
  bytes: number
  metadata: Metadata
}

export interface Query {
  text: string
  /** Of length 1; without it only keywords are searched. */
  vector?: Float32Array
  /** 0: by keywords alone; 1: by meaning alone. */
  alpha: number
  limit: number
  filter?: Filter
}

export interface Hit {
  text: string
  metadata: Metadata
  /** Best first, comparable within one search only. */
  score: number
}

export interface IndexStats {
  documents: number
  chunks: number
}

/** Where chunks are kept and found. All of it survives the end of the process at any moment. */
export interface Index {
  /** Replace a document and all its chunks at once: a search sees the old ones or the new ones. */
  upsert(document: Document, chunks: readonly Chunk[]): Promise<void>
  /** Replace what is known of a document whose text is as before. */
  describe(document: Document): Promise<void>
  delete(source: string, paths?: readonly string[]): Promise<void>
  search(query: Query): Promise<Hit[]>
  /** What is in the index of one source, by path. */
  documents(source: string): Promise<Map<string, Document>>
  stats(): Promise<IndexStats>
  close(): Promise<void>
}
