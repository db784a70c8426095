import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../../../test/bundle.ts'
import { notes } from '../../../test/store-writer.ts'
import { openSqlite } from './sqlite.ts'
import { lastingStoreSuite, storeSuite } from './store.suite.ts'
import type { Place } from './suite/place.ts'

const folder = mkdtempSync(join(tmpdir(), 'cove-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

const newFolder = () => mkdtempSync(join(folder, 'case-'))
const newPath = () => join(newFolder(), 'data', 'cove.db')

describe('a store in a file', () => {
  const newPlace = async (): Promise<Place> => {
    const path = newPath()
    return { open: (options) => openSqlite(path, options) }
  }
  lastingStoreSuite(newPlace)

  it('is for its owner alone, and one file when closed', async () => {
    const path = newPath()
    const store = await openSqlite(path)
    await store.collection(notes).insert({ id: 1, half: '', text: '' })
    const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)
    expect([path, `${path}-wal`, join(path, '..')].map(mode)).toEqual(['600', '600', '700'])
    await store.close()
    expect(statSync(`${path}-wal`).size).toBe(0)
    await expect(store.collection(notes).get(1)).rejects.toThrow(`${path} is closed.`)
  })

  it('waits for another process that writes, and works on when it waited in vain', async () => {
    const path = newPath()
    const store = await openSqlite(path, { patience: 50 })
    const table = store.collection(notes)
    await table.insert({ id: 1, half: '', text: 'before' })
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const busy = {
      status: 503,
      message: `${path} is in use by another process: stop it and try again.`,
    }
    await expect(table.put({ id: 1, half: '', text: 'in vain' })).rejects.toMatchObject(busy)
    await expect(store.transaction(async () => {})).rejects.toMatchObject(busy)
    other.exec('COMMIT')
    await table.put({ id: 1, half: '', text: 'after' })
    await store.transaction(async (tx) => {
      await tx.collection(notes).put({ id: 2, half: '', text: 'after' })
    })
    expect(await table.list()).toMatchObject([{ text: 'after' }, { text: 'after' }])
    await store.close()
  })

  it('lets readers through while a transaction is open', async () => {
    const store = await openSqlite(newPath())
    const table = store.collection(notes)
    await table.insert({ id: 1, half: '', text: 'before' })
    await store.transaction(async (tx) => {
      await tx.collection(notes).put({ id: 1, half: '', text: 'after' })
      expect(await table.get(1)).toMatchObject({ text: 'before' })
    })
    expect(await table.get(1)).toMatchObject({ text: 'after' })
    await store.close()
  })
})

describe('a store in memory', () => {
  storeSuite(async () => ({ open: (options) => openSqlite(':memory:', options) }))
})

describe('a file that is not ours', () => {
  const refusal = async (path: string) => {
    const outcome = await openSqlite(path).catch((error: Error) => error)
    return outcome instanceof Error ? outcome.message.replace(path, 'FILE') : 'opened'
  }

  it('is refused with a sentence, and left as it was', async () => {
    const text = join(newFolder(), 'notes.txt')
    writeFileSync(text, 'Dear diary, '.repeat(1000))
    expect(await refusal(text)).toBe(
      'FILE is not a database: move it away, or choose another place for the data.',
    )
    expect(readFileSync(text, 'utf8')).toBe('Dear diary, '.repeat(1000))

    const foreign = join(newFolder(), 'other.db')
    new Database(foreign).exec('CREATE TABLE customers (name TEXT)')
    expect(await refusal(foreign)).toBe(
      "FILE belongs to another program: choose another place for Cove's data.",
    )
  })

  it('is refused when damaged, or a folder', async () => {
    const path = newPath()
    const store = await openSqlite(path)
    await store.collection(notes).insert({ id: 1, half: '', text: 'x'.repeat(50_000) })
    await store.close()
    const whole = readFileSync(path)
    const zeros = Buffer.concat([
      whole.subarray(0, 8192),
      Buffer.alloc(8192),
      whole.subarray(16384),
    ])
    for (const damaged of [whole.subarray(0, 6000), zeros]) {
      const copy = join(path, '..', `${damaged.length}.db`)
      writeFileSync(copy, damaged)
      expect(await refusal(copy)).toBe(
        'FILE is damaged: move it away and restore a copy, or start with an empty one.',
      )
    }
    expect(await refusal(folder)).toBe(
      'FILE cannot be opened: it must be a file in a folder of yours.',
    )
  })
})

describe('a store whose process dies', () => {
  let writer: Awaited<ReturnType<typeof bundle>>
  beforeAll(async () => {
    writer = await bundle('test/store-writer.ts', newFolder())
  })

  /** Runs the writer until `enough` says so, then kills it; what it said, line by line. */
  const write = (path: string, enough: (said: string) => boolean, limit = 'unlimited') =>
    new Promise<string[]>((resolve) => {
      const command = `ulimit -f ${limit}; exec "$0" "$1" "$2"`
      const child = spawn('bash', ['-c', command, process.execPath, writer.file, path], {
        env: writer.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += chunk
        if (enough(said)) child.kill('SIGKILL')
      })
      child.once('close', () => resolve(said.split('\n').slice(0, -1)))
    })

  it('has every acknowledged write, and no half transaction, after kill -9 again and again', async () => {
    const path = newPath()
    const acknowledged = new Set<number>()
    for (let round = 1; round <= 12; round++) {
      const bytes = round * 97
      for (const line of await write(path, (said) => said.length > bytes))
        acknowledged.add(Number(line))
      const store = await openSqlite(path)
      const found = await store.collection(notes).list()
      const ids = new Set(found.map((note) => note.id))
      expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([])
      const half = (side: string) => found.filter((note) => note.half === side).length
      expect(half('left')).toBe(half('right'))
      await store.close()
    }
    expect(acknowledged.size).toBeGreaterThan(100)
  }, 60_000)

  it('says that the disk is full, and keeps what it has', async () => {
    const path = newPath()
    const said = await write(path, () => false, '400')
    expect(said.at(-1)).toBe(
      `refused: ${path} cannot grow: its disk is full or failing. Nothing was written; free some space and try again.`,
    )
    const store = await openSqlite(path)
    const ids = (await store.collection(notes).list()).map((note) => note.id)
    expect(ids).toEqual(expect.arrayContaining(said.slice(0, -1).map(Number)))
    await store.close()
  })
})
