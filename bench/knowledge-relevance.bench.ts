import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultChunking } from '#knowledge/chunk.ts'
import { listFiles } from '#knowledge/files.ts'
import { createKnowledge, type Knowledge } from '#knowledge/knowledge.ts'
import { systemClock } from '#platform/clock.ts'

/**
 * How well searches answer, on the Cranfield collection: 1400 abstracts, 225 questions, and people's
 * judgement which abstracts answer which. Each abstract is a file that is read, cut and indexed as any
 * other. And, as a check that nothing was bent towards it: finding one abstract by its title alone.
 *   node scripts/bench.mjs knowledge-relevance FOLDER
 */

interface Abstract {
  id: number
  title: string
  text: string
}

const main = async (folder: string) => {
  const abstracts = readAbstracts(join(folder, 'cran.all.1400'))
  const queries = readQueries(join(folder, 'cran.qry'))
  const judged = readJudgements(join(folder, 'cranqrel'))
  const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
  const knowledge = createKnowledge({ folder: home, clock: systemClock, secret: () => undefined })
  try {
    const whole = await index(
      knowledge,
      home,
      'whole',
      abstracts,
      ({ title, text }) => `# ${title}\n\n${text}\n`,
    )
    const scores = new Map<string, number[]>()
    for (const [name, alpha] of sides) {
      const each: number[] = []
      for (const [at, query] of queries.entries()) {
        const relevant = judged.get(at + 1)
        if (relevant) each.push(ndcg(await found(knowledge, whole, query, alpha), relevant))
      }
      scores.set(name, each)
    }
    console.log(`\nCranfield, ${queries.length} questions, binary judgements\n`)
    console.log('| search | nDCG@10 | 95 % interval |\n|---|---|---|')
    for (const [name, each] of scores)
      console.log(`| ${name} | ${mean(each).toFixed(4)} | ${interval(each)} |`)
    for (const other of ['keyword', 'semantic'])
      console.log(`\nhybrid − ${other}: ${interval(difference(scores, 'hybrid', other))}`)

    const bodies = abstracts.filter(({ title, text }) => text.length > title.length + 200)
    const untitled = await index(knowledge, home, 'untitled', bodies, ({ title, text }) =>
      text.startsWith(title.slice(0, 30)) ? text.slice(title.length) : text,
    )
    console.log(
      `\nOne abstract, without its title, by that title (every fourth of ${bodies.length})\n`,
    )
    console.log('| search | MRR@10 |\n|---|---|')
    for (const [name, alpha] of sides) {
      const ranks: number[] = []
      for (const { id, title } of bodies.filter((_, at) => at % 4 === 0)) {
        const at = (await found(knowledge, untitled, title, alpha)).indexOf(id)
        ranks.push(at < 0 ? 0 : 1 / (at + 1))
      }
      console.log(`| ${name} | ${mean(ranks).toFixed(4)} |`)
    }
  } finally {
    await knowledge.close()
    rmSync(home, { recursive: true, force: true })
  }
}

const sides = [
  ['keyword', 0],
  ['semantic', 1],
  ['hybrid', 0.5],
] as const

const index = async (
  knowledge: Knowledge,
  home: string,
  name: string,
  abstracts: readonly Abstract[],
  contentOf: (abstract: Abstract) => string,
) => {
  const folder = join(home, `files-${name}`)
  mkdirSync(folder)
  for (const abstract of abstracts)
    writeFileSync(join(folder, `${abstract.id}.md`), contentOf(abstract))
  const base = { uuid: name }
  const begun = performance.now()
  const report = await knowledge.sync(
    base,
    { uuid: 'files', files: await listFiles(folder), chunking: defaultChunking, metadata: {} },
    { signal: new AbortController().signal, progress: () => {} },
  )
  const seconds = (performance.now() - begun) / 1000
  console.log(`${report.indexed} files, ${report.chunks} chunks indexed in ${seconds.toFixed(0)} s`)
  return base
}

/** The first ten abstracts, by their best chunk. */
const found = async (knowledge: Knowledge, base: { uuid: string }, text: string, alpha: number) => {
  const hits = await knowledge.search(base, { text, alpha, limit: 25 })
  return [...new Set(hits.map(({ metadata }) => Number.parseInt(String(metadata.path), 10)))].slice(
    0,
    10,
  )
}

const ndcg = (ranking: readonly number[], relevant: ReadonlySet<number>): number => {
  const gain = (at: number) => 1 / Math.log2(at + 2)
  const reached = ranking.reduce((sum, id, at) => sum + (relevant.has(id) ? gain(at) : 0), 0)
  let best = 0
  for (let at = 0; at < Math.min(10, relevant.size); at++) best += gain(at)
  return reached / best
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const difference = (scores: Map<string, number[]>, a: string, b: string): number[] =>
  (scores.get(a) ?? []).map((value, at) => value - (scores.get(b)?.[at] ?? 0))

/** Bootstrap over the questions, always with the same draws. */
const interval = (values: readonly number[]): string => {
  let state = 1
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  const means = Array.from({ length: 2000 }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)] ?? 0)),
  ).sort((a, b) => a - b)
  return `${means[50]?.toFixed(4)} … ${means[1949]?.toFixed(4)}`
}

const readAbstracts = (path: string): Abstract[] =>
  records(path).map(([id, body]) => ({
    id,
    title: field(body, 'T', 'A'),
    text: field(body, 'W', 'X'),
  }))

const readQueries = (path: string): string[] =>
  records(path).map(([, body]) => field(body, 'W', 'X'))

const records = (path: string): [id: number, body: string][] => {
  const parts = readFileSync(path, 'utf8')
    .replaceAll('\r', '')
    .split(/^\.I (\d+)\n/m)
    .slice(1)
  return parts
    .flatMap((part, at) => (at % 2 ? [] : [[Number(part), parts[at + 1] ?? ''] as const]))
    .map(([id, body]) => [id, body])
}

/** The lines after `.T` up to `.A`. */
const field = (body: string, name: string, next: string): string => {
  const after = `\n${body}`.split(`\n.${name}\n`)[1] ?? ''
  return (after.split(`\n.${next}\n`)[0] ?? '').replace(/\s+/g, ' ').trim()
}

const readJudgements = (path: string): Map<number, Set<number>> => {
  const judged = new Map<number, Set<number>>()
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    const [query = 0, abstract = 0, code = 0] = line.trim().split(/\s+/).map(Number)
    if (code >= 1) judged.set(query, (judged.get(query) ?? new Set()).add(abstract))
  }
  return judged
}

const folder = process.argv[2]
if (!folder) {
  console.error('Say where the collection is: node scripts/bench.mjs knowledge-relevance FOLDER')
  process.exitCode = 2
} else await main(folder)
