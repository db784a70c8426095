import { Columns } from './columns.ts'
import { fuse, fusionWindow } from './fusion.ts'
import type { Metadata, Query } from './index.ts'
import { mostSlots, Postings, type TermCounts } from './postings.ts'
import { termsOf } from './terms.ts'
import type { Scored } from './top.ts'
import { type Codes, Vectors } from './vectors.ts'

/**
 * The semantic side looks twice: the query is first moved this far towards the mean of the best
 * results of the first look, so that what resembles good answers is found although the question is
 * worded otherwise.
 */
const feedback = { results: 3, weight: 0.5 }

/** A chunk as searches need it. */
export interface Entry {
  chunk: number
  terms: TermCounts
  codes: Codes
  metadata: Metadata
}

/** The searchable part of an index, held in memory. Slots number the chunks, and are never reused. */
export class MemoryIndex {
  readonly #terms = new Map<string, number>()
  readonly #postings = new Postings()
  readonly #vectors: Vectors
  readonly #columns = new Columns()
  /** By slot: the chunk's id; 0 once it is removed. */
  readonly #chunks: number[] = []
  #removed = 0

  constructor(width: number) {
    this.#vectors = new Vectors(width)
  }

  get size(): number {
    return this.#chunks.length - this.#removed
  }

  /** How much of the memory is held by removed chunks, 0…1. */
  get waste(): number {
    return this.#removed / Math.max(1, this.#chunks.length)
  }

  learn(term: string, number: number): void {
    this.#terms.set(term, number)
  }

  termNumber(term: string): number | undefined {
    return this.#terms.get(term)
  }

  /** Answers the slot. */
  add({ chunk, terms, codes, metadata }: Entry): number {
    const slot = this.#chunks.length
    if (slot >= mostSlots)
      throw new RangeError(`One knowledge base holds at most ${mostSlots} chunks.`)
    this.#chunks.push(chunk)
    this.#postings.add(slot, terms)
    this.#vectors.add(slot, codes)
    this.#columns.set(slot, metadata)
    return slot
  }

  describe(slot: number, metadata: Metadata): void {
    this.#columns.set(slot, metadata)
  }

  remove(slot: number, terms: TermCounts): void {
    this.#postings.remove(slot, terms)
    this.#vectors.remove(slot)
    this.#chunks[slot] = 0
    this.#removed++
  }

  chunkIn(slot: number): number {
    return this.#chunks[slot] ?? 0
  }

  search({ text, vector, alpha, limit, filter }: Query): Scored[] {
    const alive = (slot: number) => this.#chunks[slot] !== 0
    const matched = filter && this.#columns.match(filter, alive)
    if (matched?.slots.length === 0) return []
    const keyword =
      alpha < 1 || !vector
        ? this.#postings.search(this.#known(text), fusionWindow, alive, matched)
        : []
    if (!vector || alpha === 0) return keyword.slice(0, limit)
    const look = (towards: Float32Array) =>
      fuse(keyword, this.#vectors.search(towards, fusionWindow, matched), alpha)
    const first = look(vector)
    return look(this.#moved(vector, first.slice(0, feedback.results))).slice(0, limit)
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

  #moved(vector: Float32Array, results: readonly Scored[]): Float32Array {
    const moved = Float32Array.from(vector)
    for (const { slot } of results) {
      const found = this.#vectors.get(slot)
      for (let at = 0; at < moved.length; at++)
        moved[at] = (moved[at] ?? 0) + ((found[at] ?? 0) * feedback.weight) / results.length
    }
    return moved
  }
}
