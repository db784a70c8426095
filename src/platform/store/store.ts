import type { Collection } from '#core/collection.ts'

/** What the platform remembers. One interface over SQLite and PostgreSQL. */
export interface Store {
  collection<T extends object>(spec: Collection<T>): Table<T>
  /**
   * All or nothing, as if no other transaction ran beside it; the work sees its own writes.
   * Use only `tx` inside, and touch nothing outside: after a clash with another process the
   * work is run again.
   */
  transaction<R>(work: (tx: Store) => Promise<R>): Promise<R>
  /** The next number of a sequence, from 1; no two records ever get the same. */
  nextId(sequence: string): Promise<number>
  /** Whether other processes may work on it at the same time. */
  readonly shared: boolean
  /** Hear the name of a reconciled collection after a write here made a record of it due. */
  onDue(listener: (collection: string) => void): () => void
  close(): Promise<void>
}

export interface Table<T extends object> {
  get(key: Key): Promise<T | undefined>
  /** As `get`; a missing record is `ApiError.notFound('<called> <key>')`. */
  require(key: Key): Promise<T>
  /** The first record that matches. */
  find(where: Where<T>): Promise<T | undefined>
  list(query?: ListQuery<T>): Promise<T[]>
  count(where?: Where<T>): Promise<number>
  /** A new record; `ApiError.conflict` when its key or a unique set is taken. */
  insert(record: T): Promise<T>
  /** Insert or replace. */
  put(record: T): Promise<T>
  /** Read, change, write if nobody wrote in between, else again. Lost updates cannot happen. */
  update(key: Key, change: (current: T) => T): Promise<T>
  /** Whether there was one. */
  remove(key: Key): Promise<boolean>
  /** How its reconciliation stands; undefined for a missing record. */
  standing(key: Key): Promise<Standing | undefined>
  /** Take up to `limit` due records for `owner` until the time given; nobody else gets them before. */
  claim(lease: Lease): Promise<Claim<T>[]>
  /** Hold a claim until the time given; 0 lets it go. False when the lease was lost. */
  extend(claim: Claim<T>, until: number): Promise<boolean>
  /** End a claim. False when the lease was lost or the record was written since (it is then due again). */
  settle(claim: Claim<T>, outcome: Outcome<T>): Promise<boolean>
  /** End all claims, whoever holds them: for a process that knows it is alone. */
  releaseAll(): Promise<void>
  /** The earliest time at which a record is due, or undefined. */
  nextDue(): Promise<number | undefined>
}

export type Key = string | number

/** Fields equal to a value, or to one of several. Undefined and null are one value: none. */
export type Where<T> = { [K in keyof T]?: T[K] | readonly T[K][] }

export interface ListQuery<T> {
  where?: Where<T>
  /** Order of insertion by default. */
  newestFirst?: boolean
  limit?: number
  offset?: number
}

export interface Lease {
  owner: string
  now: number
  until: number
  limit: number
}

export interface Claim<T> {
  record: T
  key: string
  version: number
  owner: string
  /** Failures in a row before this claim. */
  attempts: number
}

/** What a step of reconciliation came to; times in ms since the epoch, `due` undefined means settled. */
export type Outcome<T> =
  | { kind: 'done'; change?: (current: T) => T; due?: number }
  | { kind: 'failed'; problem: string; due: number; change?: (current: T) => T }
  | { kind: 'remove' }

export interface Standing {
  /** Undefined: settled; 0: written since, due at once. */
  due?: number
  attempts: number
  problem?: string
}
