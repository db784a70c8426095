import { createKernels, type Kernels, planes } from './kernels.ts'
import { type Scored, Top } from './top.ts'

/** Rows that are kept and scanned together. */
const blockRows = 4096
const pageBytes = 65536
/** So many of the first pass are scored by the second: 1 % of 100,000 loses none of the best ten. */
const candidates = 1200
const codeRange = 127

/** A vector of length 1 in a byte a dimension, and the number that brings it back. */
export interface Codes {
  codes: Int8Array
  scale: number
}

export const quantise = (vector: Float32Array): Codes => {
  let largest = 0
  for (let at = 0; at < vector.length; at++) largest = Math.max(largest, Math.abs(vector[at] ?? 0))
  const scale = largest / codeRange || 1
  const codes = new Int8Array(vector.length)
  for (let at = 0; at < vector.length; at++) codes[at] = Math.round((vector[at] ?? 0) / scale)
  return { codes, scale }
}

/**
 * Vectors in WebAssembly memory, each as signs (a bit a dimension) and as codes (a byte). A search
 * estimates all by their signs, then scores the most promising by their codes.
 */
export class Vectors {
  readonly #width: number
  readonly #padded: number
  readonly #memory: WebAssembly.Memory
  readonly #kernels: Kernels
  /** Byte offsets: the query as planes and as 16-bit integers, row addresses, results, blocks. */
  readonly #at: { planes: number; query: number; rows: number; out: number; blocks: number }
  readonly #blockBytes: number
  #blocks = 0
  #size = 0
  /** What one bit, and one code, stand for; not a number in slots that were removed. */
  #perSign = new Float32Array(blockRows)
  #perCode = new Float32Array(blockRows)
  #ones = new Uint16Array(blockRows)

  constructor(width: number) {
    this.#width = width
    this.#padded = Math.ceil(width / 128) * 128
    const planeBytes = (this.#padded / 8) * planes
    const query = planeBytes
    const rows = query + 2 * this.#padded
    const out = rows + 4 * blockRows
    const blocks = Math.ceil((out + 4 * blockRows) / pageBytes) * pageBytes
    this.#at = { planes: 0, query, rows, out, blocks }
    this.#blockBytes = blockRows * (this.#padded / 8 + this.#padded)
    this.#memory = new WebAssembly.Memory({ initial: blocks / pageBytes })
    this.#kernels = createKernels(this.#memory, this.#padded)
  }

  /** Slots are to be added in rising order, without gaps. */
  add(slot: number, { codes, scale }: Codes): void {
    while (slot >= this.#blocks * blockRows) this.#addBlock()
    const signs = new Uint8Array(this.#memory.buffer, this.#signsAt(slot), this.#padded / 8)
    let magnitude = 0
    let ones = 0
    for (let from = 0; from < codes.length; from += 8) {
      let byte = 0
      const end = Math.min(from + 8, codes.length)
      for (let at = from; at < end; at++) {
        const code = codes[at] as number
        if (code > 0) {
          magnitude += code
          byte |= 1 << (at - from)
          ones++
        } else magnitude -= code
      }
      signs[from >> 3] = byte
    }
    new Int8Array(this.#memory.buffer, this.#codesAt(slot), this.#padded).set(codes)
    this.#perSign[slot] = 1 / (magnitude * scale || 1)
    this.#perCode[slot] = scale
    this.#ones[slot] = ones
    this.#size = slot + 1
  }

  remove(slot: number): void {
    this.#perSign[slot] = Number.NaN
    this.#perCode[slot] = Number.NaN
  }

  /** The vector kept in a slot, as near as its codes come. */
  get(slot: number): Float32Array {
    const codes = new Int8Array(this.#memory.buffer, this.#codesAt(slot), this.#width)
    const scale = this.#perCode[slot] ?? 0
    return Float32Array.from(codes, (code) => code * scale)
  }

  /**
   * Slots among which the nearest to a query, and to queries like it, are: all of them where they are
   * few, else those that look nearest by their signs. Rising.
   */
  candidates(query: Float32Array): Uint32Array {
    if (this.#size <= 4 * candidates) return everySlot(this.#size)
    const estimates = this.#estimate(query)
    return largest(estimates, candidates)
  }

  /** The nearest by cosine among the slots given. */
  nearest(query: Float32Array, slots: Uint32Array, limit: number): Scored[] {
    const perUnit = this.#writeQuery(query)
    const top = new Top(limit)
    const perCode = this.#perCode
    let bar = Number.NEGATIVE_INFINITY
    for (let from = 0; from < slots.length; from += blockRows) {
      const count = Math.min(blockRows, slots.length - from)
      const rows = new Uint32Array(this.#memory.buffer, this.#at.rows, count)
      for (let at = 0; at < count; at++) rows[at] = this.#codesAt(slots[from + at] as number)
      this.#kernels.dotsAt(this.#at.query, this.#at.rows, count, this.#at.out)
      const dots = new Int32Array(this.#memory.buffer, this.#at.out, count)
      for (let at = 0; at < count; at++) {
        const slot = slots[from + at] as number
        const score = (dots[at] as number) * perUnit * (perCode[slot] as number)
        if (score > bar) {
          top.offer(slot, score)
          bar = top.bar
        }
      }
    }
    return top.ranked()
  }

  /**
   * A bit tells whether a dimension is positive. What a vector shares with the query is estimated as
   * the sum of the query's parts where bits are set, less the others, by the mean size of its parts.
   */
  #estimate(query: Float32Array): Float32Array {
    const { least, step, sum } = this.#writePlanes(query)
    const perSign = this.#perSign
    const ones = this.#ones
    const estimates = new Float32Array(this.#size)
    for (let block = 0; block < this.#blocks; block++) {
      const first = block * blockRows
      const count = Math.min(blockRows, this.#size - first)
      this.#kernels.signs(this.#at.planes, this.#signsAt(first), count, this.#at.out)
      const shared = new Int32Array(this.#memory.buffer, this.#at.out, count)
      for (let row = 0; row < count; row++) {
        const slot = first + row
        const positive = least * (ones[slot] as number) + step * (shared[row] as number)
        estimates[slot] = (2 * positive - sum) * (perSign[slot] as number)
      }
    }
    return estimates
  }

  /** Each part of the query in `planes` bits, above the least of them. */
  #writePlanes(query: Float32Array) {
    const least = Math.min(...query)
    const step = (Math.max(...query) - least) / (2 ** planes - 1) || 1
    const blockBytes = 16 * planes
    const bytes = new Uint8Array(this.#memory.buffer, this.#at.planes, (this.#padded / 8) * planes)
    bytes.fill(0)
    let sum = 0
    for (const [at, part] of query.entries()) {
      sum += part
      const level = Math.round((part - least) / step)
      for (let plane = 0; plane < planes; plane++) {
        if (((level >> plane) & 1) === 0) continue
        const byte = (at >> 7) * blockBytes + plane * 16 + ((at & 127) >> 3)
        bytes[byte] = (bytes[byte] as number) | (1 << (at & 7))
      }
    }
    return { least, step, sum }
  }

  /** As fine as 16 bits, and the 32 bits of the sum, allow. Answers what one unit stands for. */
  #writeQuery(query: Float32Array): number {
    const range = Math.min(2 ** 15 - 1, Math.floor((2 ** 31 - 1) / (codeRange * this.#padded)))
    let largest = 0
    for (const part of query) largest = Math.max(largest, Math.abs(part))
    const unit = largest / range || 1
    const numbers = new Int16Array(this.#memory.buffer, this.#at.query, this.#padded).fill(0)
    for (const [at, part] of query.entries()) numbers[at] = Math.round(part / unit)
    return unit
  }

  #addBlock() {
    this.#memory.grow(this.#blockBytes / pageBytes)
    this.#blocks++
    const rows = this.#blocks * blockRows
    this.#perSign = enlarged(this.#perSign, new Float32Array(rows))
    this.#perCode = enlarged(this.#perCode, new Float32Array(rows))
    this.#ones = enlarged(this.#ones, new Uint16Array(rows))
  }

  #blockAt(slot: number): number {
    return this.#at.blocks + Math.floor(slot / blockRows) * this.#blockBytes
  }

  #signsAt(slot: number): number {
    return this.#blockAt(slot) + (slot % blockRows) * (this.#padded / 8)
  }

  #codesAt(slot: number): number {
    return this.#blockAt(slot) + blockRows * (this.#padded / 8) + (slot % blockRows) * this.#padded
  }
}

const enlarged = <T extends Float32Array | Uint16Array>(from: T, to: T): T => {
  to.set(from.subarray(0, to.length))
  return to
}

const everySlot = (size: number): Uint32Array => {
  const slots = new Uint32Array(size)
  for (let slot = 0; slot < size; slot++) slots[slot] = slot
  return slots
}

/** Places of about `count` largest numbers, rising. What is not a number is never among them. */
const largest = (numbers: Float32Array, count: number): Uint32Array => {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (number < low) low = number
    if (number > high) high = number
  }
  const perStep = (steps - 1) / (high - low || 1)
  const histogram = new Uint32Array(steps)
  for (let at = 0; at < numbers.length; at++) {
    const step = ((numbers[at] as number) - low) * perStep
    if (step >= 0) histogram[step | 0] = (histogram[step | 0] as number) + 1
  }
  let bar = steps
  let total = 0
  while (bar > 0 && total < count) total += histogram[--bar] as number
  const places = new Uint32Array(total)
  let filled = 0
  for (let at = 0; at < numbers.length; at++)
    if (((numbers[at] as number) - low) * perStep >= bar) places[filled++] = at
  return places.subarray(0, filled)
}

/** How finely `largest` divides the range of the numbers. */
const steps = 4096
