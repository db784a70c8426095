import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { builtFile } from '#core/built.ts'
import { knowledgeEndpoint } from '#knowledge/endpoint.ts'
import { openEmbeddedIndex } from '#knowledge/index/embedded.ts'
import { builtInEmbedder, WorkerPool } from '#knowledge/pool.ts'
import { systemClock } from '#platform/clock.ts'
import { seeded } from '../test/random.ts'
import { synthetic, width } from './knowledge-data.ts'
import { median, percentile, report } from './measure.ts'

/**
 * Searches through `POST /v1/mcp`, the query embedded each time: what the way there costs beside the
 * embedding and the search alone, and how it stands 50 clients at once.
 *   node scripts/bench.mjs knowledge-endpoint [SECONDS] [CHUNKS]
 */

const seconds = Number(process.argv[2] ?? 30)
const chunks = Number(process.argv[3] ?? 20_000)
const clients = 50
const id = '00000000-0000-4000-8000-000000000000'

const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
const pool = new WorkerPool({
  script: builtFile('knowledge.worker.js'),
  modelFolder: join(home, 'models'),
  threads: 1,
  clock: systemClock,
})
const embedder = builtInEmbedder(pool)
const index = await openEmbeddedIndex(join(home, 'index'), width)
const source = synthetic(seeded(7))
for (let at = 0; at < chunks; at += 100) {
  const path = String(at)
  await index.upsert(
    { source: 's', path, fingerprint: path, bytes: 0, metadata: { path } },
    Array.from({ length: 100 }, () => source.chunk()),
  )
}
const queries = Array.from({ length: 200 }, () => source.query().words.join(' '))
const search = async (text: string) => {
  const [vector] = await embedder.embed([text], { urgent: true })
  return index.search({ text, ...(vector && { vector }), alpha: 0.5, limit: 10 })
}
const receive = knowledgeEndpoint({
  version: 'bench',
  authenticate: async () => ({ id: 'b', name: 'bench', scopes: ['genai:read'] }),
  retrieve: ({ text }) => search(text),
  report: console.error,
})['/v1/mcp']
if (!receive) throw new Error('The endpoint has no path.')
const port = await new Promise<number>((ready) => {
  serve({ fetch: receive, port: 0, hostname: '127.0.0.1' }, (address) => ready(address.port))
})

let failures = 0
const ask = async (query: string) => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/mcp`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer bench',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'retrieve_knowledge_base',
        arguments: { knowledge_base_id: id, query, num_results: 10 },
      },
    }),
  })
  const { result } = (await response.json()) as {
    result?: { isError?: boolean; structuredContent: { total_results: number } }
  }
  if (!result || result.isError || result.structuredContent.total_results !== 10) failures++
}

const timed = async (into: number[], work: () => Promise<unknown>) => {
  const begun = performance.now()
  await work()
  into.push(performance.now() - begun)
}
const { vector } = source.query()
for (const query of queries.slice(0, 40)) await ask(query)
const [alone, searched, through]: [number[], number[], number[]] = [[], [], []]
// In turns, so that what else the machine does falls on all alike.
for (const text of queries) {
  await timed(alone, () => embedder.embed([text], { urgent: true }))
  await timed(searched, () => index.search({ text, vector, alpha: 0.5, limit: 10 }))
  await timed(through, () => ask(text))
}

const crowd: number[] = []
const end = performance.now() + seconds * 1000
await Promise.all(
  Array.from({ length: clients }, async (_, client) => {
    for (let at = client; performance.now() < end; at++) {
      const begun = performance.now()
      await ask(queries[at % queries.length] ?? '')
      crowd.push(performance.now() - begun)
    }
  }),
)
await index.close()
await pool.close()
rmSync(home, { recursive: true, force: true })

report(`POST /v1/mcp, ${chunks} chunks, p50`, [
  {
    what: 'through the endpoint against embedding + search alone',
    ours: median(through),
    theirs: median(alone) + median(searched),
    unit: 'ms',
    atMost: 2,
  },
])
console.log(
  `\n${clients} clients for ${seconds} s: ${crowd.length} searches, ${(crowd.length / seconds).toFixed(0)}/s, p50 ${median(crowd).toFixed(0)} ms, p99 ${percentile(crowd, 99).toFixed(0)} ms, ${failures} failures`,
)
process.exit(failures > 0 ? 1 : process.exitCode)
