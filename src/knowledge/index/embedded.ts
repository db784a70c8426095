import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { IndexFile, type StoredChunk, type StoredDocument } from './database.ts'
import type { Chunk, Document, Index } from './index.ts'
import { MemoryIndex } from './memory.ts'
import { termsOf } from './terms.ts'
import { quantise } from './vectors.ts'

/** How often a word of the headings counts in keyword search. */
const headingWeight = 2
/** Chunks prepared without a pause. */
const pauseEvery = 50
/** Share of removed chunks at which memory is built anew. */
const mostWaste = 0.4

/** What memory knows of a document: its fields, and the slots of its chunks, which are in a row. */
interface Held {
  id: number
  document: Document
  slot: number
}

interface Contents {
  memory: MemoryIndex
  /** By source, then by path. */
  sources: Map<string, Map<string, Held>>
}

/**
 * The index of one knowledge base in a folder of its own: a SQLite file holds everything, what
 * searches need of it is in memory. `width` is the length of its vectors.
 */
export const openEmbeddedIndex = async (folder: string, width: number): Promise<Index> => {
  await mkdir(folder, { recursive: true })
  const file = new IndexFile(join(folder, 'index.db'))
  let contents = await load(file, width)
  let writing: Promise<void> = Promise.resolve()

  /** One write at a time. `change` writes to the file and answers what to do to memory then. */
  const write = (change: (contents: Contents) => () => void): Promise<void> => {
    const step = async () => {
      try {
        file.transaction(() => change(contents))()
      } catch (error) {
        // Memory may know terms that the file does not.
        contents = await load(file, width)
        throw error
      }
      if (contents.memory.waste > mostWaste) contents = await load(file, width)
    }
    const done = writing.then(step)
    writing = done.catch(() => undefined)
    return done
  }

  const drop = ({ memory, sources }: Contents, { id, document, slot }: Held): (() => void) => {
    const chunks = file.remove(id)
    return () => {
      for (const [at, { terms }] of chunks.entries()) memory.remove(slot + at, terms)
      sources.get(document.source)?.delete(document.path)
    }
  }

  return {
    upsert: async (document, chunks) => {
      const prepared = await prepare(chunks)
      return write((now) => {
        const before = find(now, document)
        const forget = before ? drop(now, before) : () => undefined
        const stored = prepared.map(
          ({ counts, metadata, codes }): StoredChunk => ({
            metadata,
            codes,
            terms: numbered(counts, now.memory, file),
          }),
        )
        const texts = chunks.map(({ text }) => text)
        const placed = file.add(document, stored, texts)
        return () => {
          forget()
          hold(now, { ...placed, document, chunks: stored })
        }
      })
    },

    describe: (document) =>
      write((now) => {
        const held = find(now, document)
        if (!held) return () => undefined
        file.describe(held.id, document)
        const chunks = file.chunksOf(held.id)
        return () => {
          pathsOf(now, document.source).set(document.path, { ...held, document })
          for (const [at, { metadata }] of chunks.entries())
            now.memory.describe(held.slot + at, document.metadata, metadata)
        }
      }),

    delete: async (source, paths) => {
      for (const path of paths ?? [...pathsOf(contents, source).keys()]) {
        await write((now) => {
          const held = pathsOf(now, source).get(path)
          return held ? drop(now, held) : () => undefined
        })
        await breath()
      }
    },

    search: async (query) => {
      const { memory } = contents
      return memory.search(query).flatMap(({ slot, score }) => {
        const chunk = file.read(memory.passageIn(slot))
        return chunk ? [{ ...chunk, score }] : []
      })
    },

    documents: async (source) =>
      new Map([...pathsOf(contents, source)].map(([name, { document }]) => [name, document])),

    stats: async () => ({
      documents: [...contents.sources.values()].reduce((sum, { size }) => sum + size, 0),
      chunks: contents.memory.size,
    }),

    close: async () => {
      await writing
      file.close()
    },
  }
}

const load = async (file: IndexFile, width: number): Promise<Contents> => {
  const contents: Contents = { memory: new MemoryIndex(width), sources: new Map() }
  for (const [id, term] of file.terms()) contents.memory.learn(term, id)
  for await (const page of file.documents()) for (const one of page) hold(contents, one)
  return contents
}

const hold = (to: Contents, { id, document, first, chunks }: StoredDocument) => {
  const slot = to.memory.length
  for (const [at, chunk] of chunks.entries()) to.memory.add(first + at, chunk, document.metadata)
  pathsOf(to, document.source).set(document.path, { id, document, slot })
}

const pathsOf = ({ sources }: Contents, source: string): Map<string, Held> => {
  const paths = sources.get(source) ?? new Map<string, Held>()
  sources.set(source, paths)
  return paths
}

const find = (contents: Contents, { source, path }: Document): Held | undefined =>
  pathsOf(contents, source).get(path)

interface Prepared extends Pick<StoredChunk, 'metadata' | 'codes'> {
  /** How often each term occurs, those of the headings with their weight. */
  counts: Map<string, number>
}

/** What takes long of a write, done before it and with pauses, so that a server stays responsive. */
const prepare = async (chunks: readonly Chunk[]): Promise<Prepared[]> => {
  const prepared: Prepared[] = []
  for (const { text, heading, metadata, vector } of chunks) {
    const counts = new Map<string, number>()
    for (const term of termsOf(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const term of termsOf(heading)) counts.set(term, (counts.get(term) ?? 0) + headingWeight)
    prepared.push({ counts, metadata, codes: quantise(vector) })
    if (prepared.length % pauseEvery === 0) await breath()
  }
  return prepared
}

const numbered = (counts: Map<string, number>, memory: MemoryIndex, file: IndexFile) => {
  const terms = new Uint32Array(2 * counts.size)
  let at = 0
  for (const [term, count] of counts) {
    let number = memory.termNumber(term)
    if (number === undefined) {
      number = file.addTerm(term)
      memory.learn(term, number)
    }
    terms[at++] = number
    terms[at++] = count
  }
  return terms
}

/** Lets whatever waits have its turn. */
const breath = () => new Promise((resume) => setImmediate(resume))
