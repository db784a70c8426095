import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Objects } from '#engines/objects/objects.ts'
import type { Store } from '#platform/store/store.ts'
import { allRowResults } from '../evaluation-engine/results.ts'
import type { RunRecord } from '../evaluation-runs/record.ts'
import { shownResult } from './view.ts'

export const resultsKey = (run: string): string => `results/${run}.json.gz`

/** All results of a finished run as gzipped JSON; made once, row by row. */
export const writeResults = async (
  store: Store,
  objects: Objects,
  run: RunRecord,
): Promise<void> => {
  const key = resultsKey(run.uuid)
  if ((await objects.size(key)) !== undefined) return
  await objects.write(key, Readable.from(text(store, run)).pipe(createGzip()))
}

async function* text(store: Store, run: RunRecord): AsyncGenerator<string> {
  let before = '{"results":['
  for await (const rows of allRowResults(store, run)) {
    for (const row of rows) {
      yield `${before}\n${JSON.stringify(shownResult(row))}`
      before = ','
    }
  }
  yield before === ',' ? '\n]}\n' : `${before}]}\n`
}
