import type { Store } from '#platform/store/store.ts'
import { answerRecords, type RunRecord, scoreRecords } from '../evaluation-runs/record.ts'

/** Rows that go in one transaction. */
const atOnce = 500

/** Removes everything that belongs to a run, some at a time. */
export const removeRows = async (store: Store, run: RunRecord): Promise<void> => {
  for (const kind of [scoreRecords, answerRecords] as const) {
    for (;;) {
      const some = await store
        .collection<{ key: string; run: string }>(kind as never)
        .list({ where: { run: run.uuid }, limit: atOnce })
      if (some.length === 0) break
      await store.transaction(async (tx) => {
        for (const { key } of some) {
          await tx.collection<{ key: string; run: string }>(kind as never).remove(key)
        }
      })
    }
  }
}
