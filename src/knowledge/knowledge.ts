import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { builtFile } from '#core/built.ts'
import { ApiError } from '#core/error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Embedder } from './embed/embedder.ts'
import { type EndpointOptions, endpointEmbedder } from './embed/endpoint.ts'
import type { Filter } from './filter.ts'
import type { Hit, Index, IndexStats } from './index/index.ts'
import { builtInEmbedder, WorkerPool } from './pool.ts'
import { type Source, type SourceReport, type SyncOptions, syncSource } from './sync.ts'

/** A knowledge base, as far as its contents are concerned. */
export interface Base {
  uuid: string
  /** Without it the built-in model embeds. */
  endpoint?: Pick<EndpointOptions, 'baseUrl' | 'model'> & {
    /** The secret that holds its key. */
    keyName?: string
  }
}

export interface SearchRequest {
  text: string
  alpha: number
  limit: number
  filter?: Filter
}

/** Reads, keeps and finds the documents of all knowledge bases. */
export interface Knowledge {
  /** Brings the index in line with a source: what is new or changed goes in, what is gone goes out. */
  sync(base: Base, source: Source, options: SyncOptions): Promise<SourceReport>
  /** Removes everything that came from a source. */
  forget(base: Base, source: string): Promise<void>
  search(base: Base, request: SearchRequest): Promise<Hit[]>
  stats(base: Base): Promise<IndexStats>
  /** Removes the indexes of models that the base no longer uses. */
  prune(base: Base): Promise<void>
  /** Removes the base from disk. */
  remove(uuid: string): Promise<void>
  close(): Promise<void>
}

export interface KnowledgeOptions {
  /** Everything is kept below it. */
  folder: string
  clock: Clock
  /** Looks up a secret by its name. */
  secret(name: string): string | undefined
  threads?: number
}

export const createKnowledge = (options: KnowledgeOptions): Knowledge => {
  const { folder, clock, threads, secret } = options
  const pool = new WorkerPool({
    script: builtFile('knowledge.worker.js'),
    modelFolder: join(folder, 'models'),
    // One processor is left to the server.
    threads: threads ?? Math.max(1, Math.min(8, availableParallelism() - 1)),
    clock,
  })
  const builtIn = builtInEmbedder(pool)
  /** By folder: an index is opened once, by whoever needs it first. */
  const open = new Map<string, Promise<Index>>()

  const embedderOf = ({ endpoint }: Base): Embedder => {
    if (!endpoint) return builtIn
    const apiKey = endpoint.keyName === undefined ? undefined : secret(endpoint.keyName)
    return endpointEmbedder({ ...endpoint, ...(apiKey && { apiKey }) })
  }

  const folderOf = (base: Base): string => join(folder, base.uuid, modelFolder(embedderOf(base)))

  const indexOf = (base: Base): Promise<Index> => {
    const path = folderOf(base)
    let index = open.get(path)
    if (!index) {
      index = widthIn(path, embedderOf(base)).then(async (width) => {
        const { openEmbeddedIndex } = await import('./index/embedded.ts')
        return openEmbeddedIndex(path, width)
      })
      // A failure, such as an endpoint that is away, must not last.
      index.catch(() => open.delete(path))
      open.set(path, index)
    }
    return index
  }

  const shut = async (below: string) => {
    for (const [path, index] of open) {
      if (!path.startsWith(below)) continue
      open.delete(path)
      await (await index).close()
    }
  }

  return {
    sync: async (base, source, options) =>
      syncSource({ index: await indexOf(base), embedder: embedderOf(base), pool }, source, options),
    forget: async (base, source) => (await indexOf(base)).delete(source),
    search: async (base, { text, alpha, limit, filter }) => {
      const query = { text, alpha, limit, ...(filter && { filter }) }
      if (alpha === 0) return (await indexOf(base)).search(query)
      const [index, [vector]] = await Promise.all([
        indexOf(base),
        embedderOf(base).embed([text], { urgent: true }),
      ])
      if (!vector) throw ApiError.unavailable('Embedding failed: the model gave no vector.')
      return index.search({ ...query, vector })
    },
    stats: async (base) => (await indexOf(base)).stats(),
    prune: async (base) => {
      const current = folderOf(base)
      for (const name of await readdir(join(folder, base.uuid)).catch(() => [])) {
        const path = join(folder, base.uuid, name)
        if (path === current) continue
        await shut(path)
        await rm(path, { recursive: true, force: true })
      }
    },
    remove: async (uuid) => {
      await shut(join(folder, uuid))
      await rm(join(folder, uuid), { recursive: true, force: true })
    },
    close: async () => {
      await pool.close()
      await shut(folder)
    },
  }
}

/** Kept beside the index, so that a search by keyword needs no model. */
const widthIn = async (folder: string, embedder: Embedder): Promise<number> => {
  const file = join(folder, 'width')
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known !== undefined) return Number(known)
  const width = await embedder.width()
  await mkdir(folder, { recursive: true })
  await writeFile(file, String(width))
  return width
}

/** An index holds vectors of one model only: another model has another folder. */
const modelFolder = ({ model }: Embedder): string =>
  createHash('sha256').update(model).digest('hex').slice(0, 16)
