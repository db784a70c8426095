import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedIndex } from '#knowledge/index/embedded.ts'
import type { Index } from '#knowledge/index/index.ts'
import { seeded } from '../test/random.ts'
import { type SyntheticChunk, synthetic, width } from './knowledge-data.ts'
import { openPeer } from './knowledge-sqlite.ts'
import { median, percentile, report } from './measure.ts'

/**
 * Speed and size of the embedded index, next to SQLite's FTS5 and sqlite-vec doing the same work in the
 * same run: 10 results with their texts.
 *   node scripts/bench.mjs knowledge-search [SIZE…]     by default 1000 10000 100000
 */

const results = 10
const perDocument = 20
const warmUps = 8
const runs = 60
const peerRuns = 15
const compared = 100_000

type Query = ReturnType<ReturnType<typeof synthetic>['query']>

const modes = {
  keyword: { alpha: 0 },
  vector: { alpha: 1 },
  hybrid: { alpha: 0.5 },
  'keyword, 1 % filter': { alpha: 0, category: 7 },
  'vector, 1 % filter': { alpha: 1, category: 7 },
  'hybrid, 1 % filter': { alpha: 0.5, category: 7 },
} as const
const names = Object.keys(modes)
type Mode = (typeof modes)[keyof typeof modes] & { category?: number }

const searchOurs = (index: Index, { words, vector }: Query, { alpha, category }: Mode) =>
  index.search({
    text: words.join(' '),
    ...(alpha > 0 && { vector }),
    alpha,
    limit: results,
    ...(category !== undefined && {
      filter: {
        kind: 'compare' as const,
        operator: 'equals' as const,
        key: 'category',
        value: category,
      },
    }),
  })

const timed = async (into: number[], work: () => unknown) => {
  const begun = performance.now()
  await work()
  into.push(performance.now() - begun)
}

const rss = () => {
  global.gc?.()
  return process.memoryUsage().rss / 1e6
}

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6

const measure = async (size: number, home: string) => {
  const source = synthetic(seeded(7))
  const folder = join(home, `ours-${size}`)
  let index = await openEmbeddedIndex(folder, width)
  const peer = size === compared ? openPeer(join(home, 'peer.db'), width) : undefined
  let built = 0
  for (let at = 0; at < size; at += perDocument) {
    const chunks: SyntheticChunk[] = Array.from({ length: perDocument }, () => source.chunk())
    const begun = performance.now()
    const path = `${at}`
    await index.upsert(
      { source: 's', path, fingerprint: path, bytes: 0, metadata: { path } },
      chunks,
    )
    built += performance.now() - begun
    peer?.add(chunks, at + 1)
  }
  await index.close()
  const before = rss()
  const openings: number[] = []
  // The fastest of three: others may be using the machine.
  for (let at = 0; at < 3; at++) {
    if (at > 0) await index.close()
    await timed(openings, async () => {
      index = await openEmbeddedIndex(folder, width)
    })
  }
  const opened = Math.min(...openings)
  const memory = rss() - before

  // All ways of searching take turns, so that what else the machine does falls on all alike.
  const empty = () => Object.fromEntries(names.map((name): [string, number[]] => [name, []]))
  const ours = empty()
  const theirs = empty()
  for (let run = -warmUps; run < runs; run++) {
    const query = source.query()
    for (const [name, mode] of Object.entries(modes)) {
      const mine = (run >= 0 && ours[name]) || []
      const other = (run >= 0 && theirs[name]) || []
      await timed(mine, () => searchOurs(index, query, mode))
      if (peer && run < peerRuns)
        await timed(other, () => peer.search(query, mode.alpha, results, (mode as Mode).category))
    }
  }
  await index.close()
  peer?.close()
  return { size, built, opened, memory, disk: sizeOf(folder), ours, theirs }
}

const sizes = process.argv.slice(2).map(Number)
const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
const measured = []
try {
  for (const size of sizes.length ? sizes : [1000, 10_000, compared])
    measured.push(await measure(size, home))
} finally {
  rmSync(home, { recursive: true, force: true })
}

console.log(`\np50 / p99 in ms, ${results} results\n`)
console.log(`| chunks | ${names.join(' | ')} | write, chunks/s | open s | memory MB | disk MB |`)
console.log(`|${'---|'.repeat(names.length + 5)}`)
for (const { size, built, opened, memory, disk, ours } of measured) {
  const cells = names.map((name) => {
    const taken = ours[name] ?? []
    return `${median(taken).toFixed(2)} / ${percentile(taken, 99).toFixed(2)}`
  })
  console.log(
    `| ${size} | ${cells.join(' | ')} | ${((size / built) * 1000).toFixed(0)} | ${(opened / 1000).toFixed(2)} | ${memory.toFixed(0)} | ${disk.toFixed(0)} |`,
  )
}

const rival = measured.find(({ size }) => size === compared)
if (rival) {
  const p50 = (taken: number[] | undefined) => median(taken ?? [])
  const bars = { keyword: 0.1, vector: 0.1, hybrid: 0.08 }
  report(`${compared} chunks against SQLite FTS5 + sqlite-vec, p50`, [
    ...names.map((name) => ({
      what: name,
      ours: p50(rival.ours[name]),
      theirs: p50(rival.theirs[name]),
      unit: 'ms',
      ...(name in bars && { atMost: bars[name as keyof typeof bars] }),
    })),
    ...['keyword', 'vector', 'hybrid'].map((name) => ({
      what: `${name}: with a 1 % filter against without`,
      ours: p50(rival.ours[`${name}, 1 % filter`]),
      theirs: p50(rival.ours[name]),
      unit: 'ms',
      atMost: 1,
    })),
    { what: 'memory of the open index', ours: rival.memory, theirs: 350, unit: 'MB', atMost: 1 },
    { what: 'opening', ours: rival.opened / 1000, theirs: 2, unit: 's', atMost: 1 },
  ])
}
