import type { Matched } from './columns.ts'
import { buildSegment, countBits, lowerBound, mostCounted, type Segment } from './segment.ts'
import { type Scored, Top } from './top.ts'

/** BM25: how soon repeating a word stops to count, and how much a long text is held against it. */
const saturation = 1.2
const lengthWeight = 0.75

/** Slots that fit into a posting. */
export const mostSlots = 2 ** (32 - countBits)
const segmentSlots = 4096
/** Looking a slot up costs as much as walking over so many postings. */
const lookUpCost = 12

/** Terms of a chunk: pairs of a term's number and how often it occurs. */
export type TermCounts = Uint32Array

/** Which slots hold a term: sorted segments, and the slots since the last, which are sorted on need. */
export class Postings {
  readonly #segments: Segment[] = []
  /** Pairs of term and posting that are in no segment yet. */
  #entries = new Uint32Array(1 << 12)
  #pending = 0
  /** The same as a segment, until another slot is added. */
  #tail: Segment | undefined
  #scratch = new Uint32Array(1 << 12)
  /** By term: living slots that hold it. */
  #frequency = new Uint32Array(1 << 12)
  /** By slot: how many words it has. */
  #words = new Float32Array(1 << 12)
  #scores = new Float32Array(1 << 12)
  #size = 0
  #living = 0
  #totalWords = 0

  /** Slots are to be added in rising order, without gaps. */
  add(slot: number, terms: TermCounts): void {
    let words = 0
    let highest = 0
    for (let at = 0; at < terms.length; at += 2) highest = Math.max(highest, terms[at] as number)
    this.#frequency = roomFor(this.#frequency, highest)
    this.#entries = roomFor(this.#entries, this.#pending + terms.length)
    const frequency = this.#frequency
    const entries = this.#entries
    const posting = slot * 2 ** countBits
    let next = this.#pending
    for (let at = 0; at < terms.length; at += 2) {
      const term = terms[at] as number
      const count = terms[at + 1] as number
      entries[next++] = term
      entries[next++] = posting + Math.min(count, mostCounted)
      frequency[term] = (frequency[term] as number) + 1
      words += count
    }
    this.#pending = next
    this.#words = roomFor(this.#words, slot)
    this.#words[slot] = words
    this.#size = slot + 1
    this.#living++
    this.#totalWords += words
    this.#tail = undefined
    if (this.#size % segmentSlots !== 0) return
    this.#segments.push(this.#sorted())
    this.#pending = 0
  }

  /** The slot's postings stay behind; who searches must leave it out. */
  remove(slot: number, terms: TermCounts): void {
    for (let at = 0; at < terms.length; at += 2) {
      const term = terms[at] as number
      this.#frequency[term] = (this.#frequency[term] as number) - 1
    }
    this.#living--
    this.#totalWords -= this.#words[slot] ?? 0
  }

  search(
    terms: Iterable<number>,
    limit: number,
    alive: (slot: number) => boolean,
    matched?: Matched,
  ): Scored[] {
    if (this.#scores.length < this.#size) this.#scores = new Float32Array(this.#words.length)
    const scores = this.#scores.fill(0, 0, this.#size)
    const weights = [...terms].map((term) => ({ term, weight: this.#weightOf(term) }))
    if (this.#pending > 0) this.#tail ??= this.#sorted()
    for (const segment of this.#tail ? [...this.#segments, this.#tail] : this.#segments) {
      const slots = matched && within(matched.slots, segment)
      if (slots?.length === 0) continue
      for (const { term, weight } of weights) {
        const at = lowerBound(segment.terms, term)
        if (segment.terms[at] !== term) continue
        const start = segment.starts[at] as number
        const end = segment.starts[at + 1] as number
        if (slots && slots.length * lookUpCost < end - start)
          this.#scoreListed(segment.postings, start, end, weight, slots)
        else this.#score(segment.postings, start, end, weight)
      }
    }
    const top = new Top(limit)
    let bar = 0
    const offer = (slot: number) => {
      const score = scores[slot] as number
      if (score <= bar || !alive(slot)) return
      top.offer(slot, score)
      bar = Math.max(0, top.bar)
    }
    if (matched) for (const slot of matched.slots) offer(slot)
    else for (let slot = 0; slot < this.#size; slot++) offer(slot)
    return top.ranked()
  }

  /** A rare term says more than a common one. */
  #weightOf(term: number): number {
    const frequency = this.#frequency[term] ?? 0
    const rarity = Math.log(1 + (this.#living - frequency + 0.5) / (frequency + 0.5))
    return rarity * (saturation + 1)
  }

  #score(postings: Uint32Array, start: number, end: number, weight: number) {
    const scores = this.#scores
    const words = this.#words
    const base = saturation * (1 - lengthWeight)
    const perWord = (saturation * lengthWeight) / (this.#totalWords / this.#living || 1)
    for (let at = start; at < end; at++) {
      const posting = postings[at] as number
      const slot = posting >>> countBits
      const count = posting & mostCounted
      const long = base + perWord * (words[slot] as number)
      scores[slot] = (scores[slot] as number) + (weight * count) / (count + long)
    }
  }

  /** For few slots: look each up instead of walking over all postings. */
  #scoreListed(
    postings: Uint32Array,
    start: number,
    end: number,
    weight: number,
    slots: Uint32Array,
  ) {
    let at = start
    for (const slot of slots) {
      at = lowerBound(postings, slot * 2 ** countBits, at, end)
      if (at === end) return
      if ((postings[at] as number) >>> countBits === slot) this.#score(postings, at, at + 1, weight)
    }
  }

  #sorted(): Segment {
    const first = this.#segments.length * segmentSlots
    if (this.#scratch.length < this.#frequency.length)
      this.#scratch = new Uint32Array(this.#frequency.length)
    const entries = this.#entries.subarray(0, this.#pending)
    return buildSegment(first, this.#size, entries, this.#scratch)
  }
}

/** Those of the slots that are in the segment. */
const within = (slots: Uint32Array, { first, end }: Segment): Uint32Array => {
  const from = lowerBound(slots, first)
  return slots.subarray(from, lowerBound(slots, end, from))
}

/** The array, or a larger copy, such that it has a place `at`. */
const roomFor = <T extends Uint32Array | Float32Array>(array: T, at: number): T => {
  if (at < array.length) return array
  const Kind = array.constructor as new (length: number) => T
  const larger = new Kind(Math.max(at + 1, Math.ceil(array.length * 1.5)))
  larger.set(array)
  return larger
}
