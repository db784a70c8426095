import { Columns } from './columns.ts'
import type { StoredChunk } from './database.ts'
import { fuse, fusionWindow } from './fusion.ts'
import type { Metadata, Query } from './index.ts'
import { mostSlots, Postings, type TermCounts } from './postings.ts'
import { termsOf } from './terms.ts'
import type { Scored } from './top.ts'
import { Vectors } from './vectors.ts'

/**
 * The semantic side looks twice: the query is moved this far towards the mean of the best results of
 * the first look, so that what resembles good answers is found although the question is worded
 * otherwise. Results that keywords had no part in are trusted less.
 */
const feedback = { results: 3, weight: 0.5, unconfirmed: 0.2 }

const feedbackWeight = (alpha: number): number => {
  const { weight, unconfirmed } = feedback
  return unconfirmed + (weight - unconfirmed) * Math.min(1, 2 * (1 - alpha))
}

/** The searchable part of an index, held in memory. Slots number the chunks, and are never reused. */
export class MemoryIndex {
  readonly #terms = new Map<string, number>()
  readonly #postings = new Postings()
  readonly #vectors: Vectors
  readonly #columns = new Columns()
  /** By slot: the number of its passage; 0 once it is removed. */
  readonly #passages: number[] = []
  #removed = 0

  constructor(width: number) {
    this.#vectors = new Vectors(width)
  }

  /** Slots in use or removed. */
  get length(): number {
    return this.#passages.length
  }

  /** Chunks that can be found. */
  get size(): number {
    return this.#passages.length - this.#removed
  }

  /** How much of the memory is held by removed chunks, 0…1. */
  get waste(): number {
    return this.#removed / Math.max(1, this.#passages.length)
  }

  learn(term: string, number: number): void {
    this.#terms.set(term, number)
  }

  termNumber(term: string): number | undefined {
    return this.#terms.get(term)
  }

  /** Puts a chunk into the next slot. Its own fields win over those of its document. */
  add(passage: number, { terms, codes, metadata }: StoredChunk, document: Metadata): void {
    const slot = this.#passages.length
    if (slot >= mostSlots)
      throw new RangeError(`One knowledge base holds at most ${mostSlots} chunks.`)
    this.#passages.push(passage)
    this.#postings.add(slot, terms)
    this.#vectors.add(slot, codes)
    this.#columns.set(slot, document, metadata)
  }

  describe(slot: number, document: Metadata, metadata: Metadata): void {
    this.#columns.set(slot, document, metadata)
  }

  remove(slot: number, terms: TermCounts): void {
    this.#postings.remove(slot, terms)
    this.#vectors.remove(slot)
    this.#passages[slot] = 0
    this.#removed++
  }

  passageIn(slot: number): number {
    return this.#passages[slot] ?? 0
  }

  search({ text, vector, alpha, limit, filter }: Query): Scored[] {
    const passages = this.#passages
    const alive = (slot: number) => passages[slot] !== 0
    const matched = filter && this.#columns.match(filter, alive)
    if (matched?.slots.length === 0) return []
    const keyword =
      alpha < 1 || !vector
        ? this.#postings.search(this.#known(text), fusionWindow, alive, matched)
        : []
    if (!vector || alpha === 0) return keyword.slice(0, limit)
    const slots = matched?.slots ?? this.#vectors.candidates(vector)
    const look = (towards: Float32Array) =>
      fuse(keyword, this.#vectors.nearest(towards, slots, fusionWindow), alpha)
    const first = look(vector)
    const best = first.slice(0, feedback.results)
    return look(this.#moved(vector, best, feedbackWeight(alpha))).slice(0, limit)
  }

  /** Each word of a query counts once. */
  #known(text: string): Set<number> {
    const numbers = new Set<number>()
    for (const term of termsOf(text)) {
      const number = this.#terms.get(term)
      if (number !== undefined) numbers.add(number)
    }
    return numbers
  }

  #moved(vector: Float32Array, results: readonly Scored[], weight: number): Float32Array {
    const moved = Float32Array.from(vector)
    for (const { slot } of results) {
      const found = this.#vectors.get(slot)
      for (let at = 0; at < moved.length; at++)
        moved[at] = (moved[at] ?? 0) + ((found[at] ?? 0) * weight) / results.length
    }
    return moved
  }
}
