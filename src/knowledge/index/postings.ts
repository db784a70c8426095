import type { Matched } from './columns.ts'
import { type Scored, Top } from './top.ts'

/** BM25: how soon repeating a word stops to count, and how much a long text is held against it. */
const saturation = 1.2
const lengthWeight = 0.75

/** A posting is a slot and how often the term is in it, in one number. */
const countBits = 8
const mostCounted = 2 ** countBits - 1
/** Slots that fit beside the count. */
export const mostSlots = 2 ** (32 - countBits)

/** Terms of a chunk, by number, with how often each occurs. */
export type TermCounts = ReadonlyMap<number, number>

/** Which slots hold a term. The lists lie in one buffer; a list that outgrows its place moves. */
export class Postings {
  #buffer = new Uint32Array(1 << 16)
  #used = 0
  /** By term: where its list begins, how long it is, and how long it may become. */
  #start = new Uint32Array(1 << 12)
  #length = new Uint32Array(1 << 12)
  #room = new Uint32Array(1 << 12)
  /** By term: living slots that hold it. */
  #frequency = new Uint32Array(1 << 12)
  /** By slot: how many words it has. */
  #words = new Float32Array(1 << 12)
  #scores = new Float32Array(1 << 12)
  #living = 0
  #totalWords = 0

  /** Slots are to be added in rising order. */
  add(slot: number, terms: TermCounts): void {
    let words = 0
    for (const [term, count] of terms) {
      this.#append(term, slot * 2 ** countBits + Math.min(count, mostCounted))
      this.#frequency[term] = (this.#frequency[term] ?? 0) + 1
      words += count
    }
    this.#words = roomFor(this.#words, slot)
    this.#words[slot] = words
    this.#living++
    this.#totalWords += words
  }

  /** The slot's postings stay behind; who searches must leave it out. */
  remove(slot: number, terms: TermCounts): void {
    for (const term of terms.keys()) this.#frequency[term] = (this.#frequency[term] ?? 1) - 1
    this.#living--
    this.#totalWords -= this.#words[slot] ?? 0
  }

  search(
    terms: Iterable<number>,
    limit: number,
    alive: (slot: number) => boolean,
    matched?: Matched,
  ): Scored[] {
    const size = this.#words.length
    if (this.#scores.length < size) this.#scores = new Float32Array(size)
    const scores = this.#scores.fill(0)
    const average = this.#totalWords / this.#living || 1
    for (const term of terms) {
      const frequency = this.#frequency[term] ?? 0
      if (frequency === 0) continue
      const rarity = Math.log(1 + (this.#living - frequency + 0.5) / (frequency + 0.5))
      const start = this.#start[term] ?? 0
      const end = start + (this.#length[term] ?? 0)
      if (matched && matched.slots.length * 16 < end - start)
        this.#scoreListed(scores, start, end, rarity, average, matched.slots)
      else this.#scoreAll(scores, start, end, rarity, average)
    }
    const top = new Top(limit)
    if (matched) {
      for (const slot of matched.slots) offer(top, slot, scores[slot] ?? 0)
      return top.ranked()
    }
    for (let slot = 0; slot < size; slot++) {
      const score = scores[slot] ?? 0
      if (score > 0 && score > top.bar && alive(slot)) top.offer(slot, score)
    }
    return top.ranked()
  }

  #scoreAll(scores: Float32Array, start: number, end: number, rarity: number, average: number) {
    const buffer = this.#buffer
    const words = this.#words
    const base = saturation * (1 - lengthWeight)
    const perWord = (saturation * lengthWeight) / average
    const full = rarity * (saturation + 1)
    for (let at = start; at < end; at++) {
      const posting = buffer[at] as number
      const slot = posting >>> countBits
      const count = posting & mostCounted
      scores[slot] =
        (scores[slot] as number) +
        (full * count) / (count + base + perWord * (words[slot] as number))
    }
  }

  /** For few slots: look each up in the list instead of walking the list. */
  #scoreListed(
    scores: Float32Array,
    start: number,
    end: number,
    rarity: number,
    average: number,
    slots: Uint32Array,
  ) {
    let low = start
    for (const slot of slots) {
      const sought = slot * 2 ** countBits
      let high = end
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((this.#buffer[middle] as number) < sought) low = middle + 1
        else high = middle
      }
      if (low === end) return
      if ((this.#buffer[low] as number) >>> countBits === slot)
        this.#scoreAll(scores, low, low + 1, rarity, average)
    }
  }

  #append(term: number, posting: number) {
    if (term >= this.#start.length) {
      this.#start = roomFor(this.#start, term)
      this.#length = roomFor(this.#length, term)
      this.#room = roomFor(this.#room, term)
      this.#frequency = roomFor(this.#frequency, term)
    }
    const length = this.#length[term] ?? 0
    if (length === this.#room[term]) this.#enlarge(term, length)
    this.#buffer[(this.#start[term] ?? 0) + length] = posting
    this.#length[term] = length + 1
  }

  #enlarge(term: number, length: number) {
    const room = length === 0 ? 1 : Math.ceil(length * 1.5) + 1
    this.#buffer = roomFor(this.#buffer, this.#used + room)
    const start = this.#start[term] ?? 0
    this.#buffer.copyWithin(this.#used, start, start + length)
    this.#start[term] = this.#used
    this.#room[term] = room
    this.#used += room
  }
}

const offer = (top: Top, slot: number, score: number) => {
  if (score > 0 && score > top.bar) top.offer(slot, score)
}

/** The array, or a larger copy, such that it has a place `at`. */
const roomFor = <T extends Uint32Array | Float32Array>(array: T, at: number): T => {
  if (at < array.length) return array
  const Kind = array.constructor as new (length: number) => T
  const larger = new Kind(Math.max(at + 1, Math.ceil(array.length * 1.5)))
  larger.set(array)
  return larger
}
