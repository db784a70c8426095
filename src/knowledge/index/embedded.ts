import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { IndexFile, type StoredChunk } from './database.ts'
import type { Chunk, Document, Index, Metadata } from './index.ts'
import { MemoryIndex } from './memory.ts'
import { termsOf } from './terms.ts'
import { quantise } from './vectors.ts'

/** How often a word of the headings counts in keyword search. */
const headingWeight = 2
/** Share of removed chunks at which memory is built anew. */
const mostWaste = 0.4

/** What memory knows of a document: its fields, and where its chunks are, in order of their ids. */
interface Held {
  id: number
  document: Document
  slots: readonly number[]
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

  const drop = ({ memory, sources }: Contents, held: Held): (() => void) => {
    const terms = file.removeChunks(held.id)
    return () => {
      for (const [at, slot] of held.slots.entries()) memory.remove(slot, terms[at] ?? new Map())
      sources.get(held.document.source)?.delete(held.document.path)
    }
  }

  return {
    upsert: (document, chunks) =>
      write((now) => {
        const before = find(now, document)
        const forget = before ? drop(now, before) : () => undefined
        const id = file.putDocument(document)
        const added = chunks.map((chunk): StoredChunk => {
          const stored = {
            document: id,
            metadata: chunk.metadata,
            terms: countTerms(now.memory, file, chunk),
            codes: quantise(chunk.vector),
          }
          return { ...stored, id: file.addChunk(stored, chunk.text) }
        })
        return () => {
          forget()
          hold(now, id, document, added)
        }
      }),

    describe: (document) =>
      write((now) => {
        const held = find(now, document)
        if (!held) return () => undefined
        file.putDocument(document)
        const own = file.metadataOf(held.id)
        return () => {
          pathsOf(now, document.source).set(document.path, { ...held, document })
          for (const [at, slot] of held.slots.entries())
            now.memory.describe(slot, merged(document, own[at] ?? {}))
        }
      }),

    delete: (source, paths) =>
      write((now) => {
        const known = pathsOf(now, source)
        const gone = [...(paths ?? known.keys())].flatMap((name) => known.get(name) ?? [])
        const forget = gone.map((held) => {
          file.removeDocument(held.id)
          return drop(now, held)
        })
        return () => {
          for (const one of forget) one()
        }
      }),

    search: async (query) => {
      const { memory } = contents
      return memory.search(query).flatMap(({ slot, score }) => {
        const chunk = file.read(memory.chunkIn(slot))
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
  const documents = new Map(
    file.documents().map(([id, document]) => [id, { id, document, slots: [] as number[] }]),
  )
  for await (const chunk of file.chunks()) {
    const owner = documents.get(chunk.document)
    if (owner) owner.slots.push(remember(contents, owner.document, chunk))
  }
  for (const held of documents.values())
    pathsOf(contents, held.document.source).set(held.document.path, held)
  return contents
}

const remember = ({ memory }: Contents, document: Document, chunk: StoredChunk): number =>
  memory.add({ ...chunk, chunk: chunk.id, metadata: merged(document, chunk.metadata) })

const hold = (to: Contents, id: number, document: Document, chunks: readonly StoredChunk[]) => {
  const slots = chunks.map((chunk) => remember(to, document, chunk))
  pathsOf(to, document.source).set(document.path, { id, document, slots })
}

const merged = (document: Document, own: Metadata): Metadata => ({ ...document.metadata, ...own })

const pathsOf = ({ sources }: Contents, source: string): Map<string, Held> => {
  const paths = sources.get(source) ?? new Map<string, Held>()
  sources.set(source, paths)
  return paths
}

const find = (contents: Contents, { source, path }: Document): Held | undefined =>
  pathsOf(contents, source).get(path)

const countTerms = (memory: MemoryIndex, file: IndexFile, { text, heading }: Chunk) => {
  const counts = new Map<number, number>()
  const count = (words: string, weight: number) => {
    for (const term of termsOf(words)) {
      let number = memory.termNumber(term)
      if (number === undefined) {
        number = file.addTerm(term)
        memory.learn(term, number)
      }
      counts.set(number, (counts.get(number) ?? 0) + weight)
    }
  }
  count(text, 1)
  count(heading, headingWeight)
  return counts
}
