import { writeSync } from 'node:fs'
import { collection } from '#core/collection.ts'
import { messageOf } from '#core/error.ts'
import { openSqlite } from '#platform/store/sqlite.ts'

/** Writes for ever, and says each number once its write is acknowledged; a child of tests. */
export const notes = collection<{ id: number; half: string; text: string }>('notes', {
  called: 'Note',
  key: 'id',
  indexes: ['half'],
})

const say = (line: string | number) => writeSync(1, `${line}\n`)

const main = async (path: string) => {
  const store = await openSqlite(path)
  const table = store.collection(notes)
  const text = 'x'.repeat(500)
  for (;;) {
    const first = await store.nextId('notes')
    await table.insert({ id: first, half: 'alone', text })
    say(first)
    const pair = await store.transaction(async (tx) => {
      const inside = tx.collection(notes)
      const [a, b] = [await tx.nextId('notes'), await tx.nextId('notes')]
      await inside.insert({ id: a, half: 'left', text })
      await inside.insert({ id: b, half: 'right', text })
      return [a, b]
    })
    pair.forEach(say)
  }
}

if (process.argv[2]) main(process.argv[2]).catch((error) => say(`refused: ${messageOf(error)}`))
