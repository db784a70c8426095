/** A posting is a slot and how often a term is in it, in one number. */
export const countBits = 8
export const mostCounted = 2 ** countBits - 1

/** The postings of a run of slots, by term: small enough that building one stays in the cache. */
export interface Segment {
  /** Slots from `first` up to, not including, `end`. */
  first: number
  end: number
  /** Numbers of the terms that occur, rising. */
  terms: Uint32Array
  /** Where each term's postings begin, and one more for the end of the last. */
  starts: Uint32Array
  /** By term, then by slot. */
  postings: Uint32Array
}

/**
 * Sorts postings by term. `entries` are pairs of a term and a posting, in order of slots; `scratch` has
 * a zero for every term there is, and has so again afterwards.
 */
export const buildSegment = (
  first: number,
  end: number,
  entries: Uint32Array,
  scratch: Uint32Array,
): Segment => {
  const count = entries.length / 2
  const found = new Uint32Array(count)
  let distinct = 0
  for (let at = 0; at < entries.length; at += 2) {
    const term = entries[at] as number
    const before = scratch[term] as number
    if (before === 0) found[distinct++] = term
    scratch[term] = before + 1
  }
  const terms = found.slice(0, distinct).sort()
  const starts = new Uint32Array(distinct + 1)
  let start = 0
  for (let at = 0; at < distinct; at++) {
    const term = terms[at] as number
    starts[at] = start
    start += scratch[term] as number
    scratch[term] = starts[at] as number
  }
  starts[distinct] = start
  const postings = new Uint32Array(count)
  for (let at = 0; at < entries.length; at += 2) {
    const term = entries[at] as number
    const place = scratch[term] as number
    postings[place] = entries[at + 1] as number
    scratch[term] = place + 1
  }
  for (let at = 0; at < distinct; at++) scratch[terms[at] as number] = 0
  return { first, end, terms, starts, postings }
}

/** The place of the first number that is not below `value`, from `low` on. */
export const lowerBound = (
  numbers: Uint32Array,
  value: number,
  low = 0,
  high = numbers.length,
): number => {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((numbers[middle] as number) < value) from = middle + 1
    else to = middle
  }
  return from
}
