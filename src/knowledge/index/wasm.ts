/** As much of a WebAssembly assembler as the vector kernels need. An instruction is its bytes. */

type Code = readonly number[]

const leb = (value: number): number[] => {
  const bytes: number[] = []
  let rest = value
  for (;;) {
    const low = rest & 127
    rest >>= 7
    // Signed and unsigned agree as long as the sign bit of the last byte is clear.
    if (rest === 0 && (low & 64) === 0) return [...bytes, low]
    bytes.push(low | 128)
  }
}
const unsigned = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >> 7)]
const simd = (operation: number, ...rest: number[]): Code => [0xfd, ...unsigned(operation), ...rest]

export const get = (local: number): Code => [0x20, local]
export const set = (local: number): Code => [0x21, local]
export const constant = (value: number): Code => [0x41, ...leb(value)]
export const add: Code = [0x6a]
export const multiply: Code = [0x6c]
export const lessThan: Code = [0x49]
export const load: Code = [0x28, 2, 0]
export const store: Code = [0x36, 2, 0]

/** Runs `body` at least once and again as long as `condition` leaves a number other than 0. */
export const repeat = (body: readonly Code[], condition: readonly Code[]): Code => [
  ...[0x03, 0x40],
  ...body.flat(),
  ...condition.flat(),
  ...[0x0d, 0, 0x0b],
]
export const advance = (local: number, by: Code): Code => [
  ...get(local),
  ...by,
  ...add,
  ...set(local),
]

/** 128-bit operations, named as WebAssembly names them. */
export const v128 = {
  zero: simd(0x0c, ...new Array<number>(16).fill(0)),
  load: (offset = 0): Code => simd(0x00, 0, ...unsigned(offset)),
  and: simd(0x4e),
  popcountBytes: simd(0x62),
  addBytes: simd(0x6e),
  widenBytesAddingPairs: simd(0x7d),
  widenShortsAddingPairs: simd(0x7e),
  lowBytesToShorts: simd(0x87),
  highBytesToShorts: simd(0x88),
  shiftShortsLeft: simd(0x8b),
  addShorts: simd(0x8e),
  addInts: simd(0xae),
  dotShorts: simd(0xba),
  int: (lane: number): Code => simd(0x1b, lane),
}

/** Adds up the four integers of a local. */
export const sumOfInts = (local: number): Code => [
  ...[0, 1, 2, 3].flatMap((lane) => [...get(local), ...v128.int(lane)]),
  ...add,
  ...add,
  ...add,
]

interface Routine {
  /** How many 32-bit parameters it takes; they are the first locals. */
  params: number
  /** 32-bit locals after them, and 128-bit locals after those. */
  ints: number
  vectors: number
  body: readonly Code[]
}

/** A module that works on the memory it is given (`host.memory`) and exports its routines. */
export const assemble = (routines: Readonly<Record<string, Routine>>): Uint8Array<ArrayBuffer> => {
  const named = Object.entries(routines)
  const vector = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()]
  const text = (value: string): number[] => vector([...Buffer.from(value)].map((byte) => [byte]))
  const section = (id: number, content: readonly number[]) => [
    id,
    ...unsigned(content.length),
    ...content,
  ]
  const types = named.map(([, { params }]) => [
    0x60,
    ...vector(new Array<Code>(params).fill([0x7f])),
    0,
  ])
  const bodies = named.map(([, { ints, vectors, body }]) => {
    const locals = vector([
      [...unsigned(ints), 0x7f],
      [...unsigned(vectors), 0x7b],
    ])
    const code = [...locals, ...body.flat(), 0x0b]
    return [...unsigned(code.length), ...code]
  })
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(2, vector([[...text('host'), ...text('memory'), 2, 0, 1]])),
    ...section(3, vector(named.map((_, at) => [at]))),
    ...section(7, vector(named.map(([name], at) => [...text(name), 0, at]))),
    ...section(10, vector(bodies)),
  ])
}
