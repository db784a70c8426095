import Libsql from 'libsql'
import { getLoadablePath } from 'sqlite-vec'
import type { SyntheticChunk } from './knowledge-data.ts'

/** The same search with what everybody has: SQLite's FTS5 and the sqlite-vec extension. */
export const openPeer = (path: string, width: number) => {
  const db = new Libsql(path)
  db.loadExtension(getLoadablePath())
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE chunk (id INTEGER PRIMARY KEY, category INTEGER, text TEXT);
    CREATE INDEX chunk_category ON chunk (category);
    CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter');
    CREATE VIRTUAL TABLE vectors USING vec0(
      id INTEGER PRIMARY KEY, category INTEGER, vector FLOAT[${width}] distance_metric=cosine);
  `)
  const insert = {
    chunk: db.prepare('INSERT INTO chunk VALUES (?, ?, ?)'),
    words: db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)'),
    vectors: db.prepare('INSERT INTO vectors VALUES (CAST(? AS INTEGER), CAST(? AS INTEGER), ?)'),
  }
  const select = {
    keyword: db
      .prepare('SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?')
      .raw(),
    keywordFiltered: db
      .prepare(
        `SELECT words.rowid, -rank FROM words JOIN chunk ON chunk.id = words.rowid
         WHERE words MATCH ? AND category = ? ORDER BY rank LIMIT ?`,
      )
      .raw(),
    vector: db.prepare('SELECT id, 1 - distance FROM vectors WHERE vector MATCH ? AND k = ?').raw(),
    vectorFiltered: db
      .prepare(
        'SELECT id, 1 - distance FROM vectors WHERE vector MATCH ? AND category = ? AND k = ?',
      )
      .raw(),
    text: db.prepare('SELECT text FROM chunk WHERE id = ?').raw(),
  }
  type Ranking = [id: number, score: number][]

  const keyword = (words: readonly string[], window: number, category?: number): Ranking => {
    const match = words.join(' OR ')
    return (
      category === undefined
        ? select.keyword.all(match, window)
        : select.keywordFiltered.all(match, category, window)
    ) as Ranking
  }
  const vector = (query: Float32Array, window: number, category?: number): Ranking => {
    const bytes = Buffer.from(query.buffer, query.byteOffset, query.byteLength)
    return (
      category === undefined
        ? select.vector.all(bytes, window)
        : select.vectorFiltered.all(bytes, category, window)
    ) as Ranking
  }
  const shares = (ranking: Ranking): Ranking => {
    const best = ranking[0]?.[1] ?? 0
    const floor = ranking.at(-1)?.[1] ?? 0
    return ranking.map(([id, score]) => [id, best > floor ? (score - floor) / (best - floor) : 1])
  }

  return {
    add: (chunks: readonly SyntheticChunk[], first: number) => {
      db.exec('BEGIN')
      for (const [at, { text, category, vector: numbers }] of chunks.entries()) {
        insert.chunk.run(first + at, category, text)
        insert.words.run(first + at, text)
        insert.vectors.run(first + at, category, Buffer.from(numbers.buffer))
      }
      db.exec('COMMIT')
    },
    /** The texts of the best, in the way that `alpha` says. */
    search: (
      { words, vector: numbers }: { words: readonly string[]; vector: Float32Array },
      alpha: number,
      limit: number,
      category?: number,
    ): string[] => {
      const window = 200
      const scores = new Map<number, number>()
      const weigh = (ranking: Ranking, weight: number) => {
        for (const [id, share] of shares(ranking))
          scores.set(id, (scores.get(id) ?? 0) + weight * share)
      }
      if (alpha < 1) weigh(keyword(words, window, category), 1 - alpha)
      if (alpha > 0) weigh(vector(numbers, window, category), alpha)
      return [...scores]
        .sort((a, b) => b[1] - a[1])
        .slice(0, limit)
        .map(([id]) => (select.text.get(id) as [string])[0])
    },
    close: () => db.close(),
  }
}
