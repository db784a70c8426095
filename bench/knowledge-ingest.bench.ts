import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtFile } from '#core/built.ts'
import { defaultChunking, embeddingText } from '#knowledge/chunk.ts'
import { listFiles } from '#knowledge/files.ts'
import { createKnowledge } from '#knowledge/knowledge.ts'
import { builtInEmbedder, WorkerPool } from '#knowledge/pool.ts'
import { systemClock } from '#platform/clock.ts'
import { seeded } from '../test/random.ts'
import { median, report } from './measure.ts'

/**
 * Chunks a second of reading, cutting, embedding and writing Markdown files, next to the bare embedder
 * on the same texts, in turns.
 *   node scripts/bench.mjs knowledge-ingest
 */

const rounds = 3
const files = 24
const threads = 1
const common =
  'the a of to and in is for on with as by that from at this it are be an or not'.split(' ')

const random = seeded(3)
const word = () =>
  random() < 0.4
    ? (common[Math.floor(random() * common.length)] ?? 'the')
    : Array.from({ length: 3 + Math.floor(random() * 6) }, () =>
        String.fromCharCode(97 + Math.floor(random() * 26)),
      ).join('')
const sentence = () => `${Array.from({ length: 12 }, word).join(' ')}.`
const paragraph = () => Array.from({ length: 4 }, sentence).join(' ')
const chapter = (title: number) =>
  `# Chapter ${title}\n\n${Array.from({ length: 6 }, (_, at) => `## Part ${at}\n\n${paragraph()}`).join('\n\n')}\n`

const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
const models = join(home, 'models')
const pool = new WorkerPool({
  script: builtFile('knowledge.worker.js'),
  modelFolder: models,
  threads,
  clock: systemClock,
})
const embedder = builtInEmbedder(pool)
const ingested: number[] = []
const bare: number[] = []
try {
  await embedder.embed(['warm'])
  const knowledge = createKnowledge({
    folder: home,
    clock: systemClock,
    secret: () => undefined,
    threads,
  })
  const sync = async (name: string, folder: string) =>
    knowledge.sync(
      { uuid: name },
      { uuid: 'files', files: await listFiles(folder), chunking: defaultChunking, metadata: {} },
      { signal: new AbortController().signal, progress: () => {} },
    )
  const warm = join(home, 'warm')
  mkdirSync(warm)
  writeFileSync(join(warm, 'a.md'), chapter(0))
  await sync('warm', warm)

  for (let round = 0; round < rounds; round++) {
    const folder = join(home, `files-${round}`)
    mkdirSync(folder)
    const texts: string[] = []
    for (let file = 0; file < files; file++) {
      const text = chapter(file)
      writeFileSync(join(folder, `${file}.md`), text)
      const { passages } = await pool.read(`${file}.md`, Buffer.from(text), defaultChunking)
      texts.push(...passages.map(embeddingText))
    }
    const begun = performance.now()
    await embedder.embed(texts)
    bare.push((texts.length / (performance.now() - begun)) * 1000)
    const again = performance.now()
    const { chunks } = await sync(`round-${round}`, folder)
    ingested.push((chunks / (performance.now() - again)) * 1000)
  }
  await knowledge.close()
} finally {
  await pool.close()
  rmSync(home, { recursive: true, force: true })
}
report(`Ingestion, ${threads} thread, median of ${rounds} rounds`, [
  {
    what: 'files to searchable chunks against the bare embedder',
    ours: median(ingested),
    theirs: median(bare),
    unit: 'chunks/s',
    atLeast: 0.85,
  },
])
