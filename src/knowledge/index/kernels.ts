import {
  add,
  advance,
  assemble,
  constant,
  get,
  lessThan,
  load,
  multiply,
  repeat,
  set,
  store,
  sumOfInts,
  v128,
} from './wasm.ts'

/** Query bits a dimension in the first pass. */
export const planes = 4

/** Routines over vectors that lie one after the other in `memory`; all places are byte offsets. */
export interface Kernels {
  /**
   * For each of `count` rows of sign bits: how much of the query falls on set bits, the query given
   * as blocks of 128 dimensions, `planes` rows of bits each, lowest first. Writes an integer a row.
   */
  signs(query: number, rows: number, count: number, out: number): void
  /** Dot products of a query of 16-bit integers with the rows of 8-bit integers listed at `list`. */
  dotsAt(query: number, list: number, count: number, out: number): void
}

// Parameters, in the order of every routine; then locals.
const [query, rows, count, out] = [0, 1, 2, 3] as const
const params = 4

const times = <T>(length: number, make: (at: number) => T): T[] =>
  Array.from({ length }, (_, at) => make(at))

/** `body` leaves an integer for each output; `next` moves on to the following row. */
const eachRow = (last: number, body: readonly (readonly number[])[], next: readonly number[]) => [
  [...get(out), ...get(count), ...constant(4), ...multiply, ...add, ...set(last)],
  repeat(
    [get(out), ...body, store, next, advance(out, constant(4))],
    [get(out), get(last), lessThan],
  ),
]

const signs = (bytes: number) => {
  const [last, row, first] = [4, 5, 6]
  const total = first + planes
  return {
    params,
    ints: 1,
    vectors: 2 + planes,
    body: eachRow(
      last,
      [
        ...times(planes, (bit) => [...v128.zero, ...set(first + bit)]),
        ...times(bytes / 16, (block) => [
          ...[...get(rows), ...v128.load(block * 16), ...set(row)],
          ...times(planes, (bit) => [
            ...get(first + bit),
            ...get(query),
            ...v128.load((block * planes + bit) * 16),
            ...get(row),
            ...v128.and,
            ...v128.popcountBytes,
            ...v128.addBytes,
            ...set(first + bit),
          ]).flat(),
        ]),
        [...v128.zero, ...set(total)],
        ...times(planes, (bit) => [
          ...get(total),
          ...get(first + bit),
          ...v128.widenBytesAddingPairs,
          ...constant(bit),
          ...v128.shiftShortsLeft,
          ...v128.addShorts,
          ...set(total),
        ]),
        [...get(total), ...v128.widenShortsAddingPairs, ...set(total)],
        sumOfInts(total),
      ],
      advance(rows, constant(bytes)),
    ),
  }
}

const dotsAt = (width: number) => {
  const [last, at, codes, low, high] = [4, 5, 6, 7, 8]
  return {
    params,
    ints: 2,
    vectors: 3,
    body: eachRow(
      last,
      [
        [...v128.zero, ...set(low), ...v128.zero, ...set(high)],
        [...get(rows), ...load, ...set(at)],
        ...times(width / 16, (block) => [
          ...[...get(at), ...v128.load(block * 16), ...set(codes)],
          ...[...get(low), ...get(codes), ...v128.lowBytesToShorts, ...get(query)],
          ...[...v128.load(block * 32), ...v128.dotShorts, ...v128.addInts, ...set(low)],
          ...[...get(high), ...get(codes), ...v128.highBytesToShorts, ...get(query)],
          ...[...v128.load(block * 32 + 16), ...v128.dotShorts, ...v128.addInts, ...set(high)],
        ]),
        [...get(low), ...get(high), ...v128.addInts, ...set(low)],
        sumOfInts(low),
      ],
      advance(rows, constant(4)),
    ),
  }
}

/** For vectors of `width` dimensions, a multiple of 128. */
export const createKernels = (memory: WebAssembly.Memory, width: number): Kernels => {
  const module = new WebAssembly.Module(
    assemble({ signs: signs(width / 8), dotsAt: dotsAt(width) }),
  )
  const { exports } = new WebAssembly.Instance(module, { host: { memory } })
  return exports as unknown as Kernels
}
