/** A block of addresses: 32 or 128 bits long, of which the first `bits` are fixed. */
export interface Block {
  family: 4 | 6
  first: bigint
  bits: number
}

const width = { 4: 32, 6: 128 } as const

/** Reads `10.0.0.0/8`, `2001:db8::/32` or one address; host bits are dropped. */
export const parseBlock = (text: string): Block => {
  const [address = '', length] = text.split('/')
  const family = address.includes(':') ? 6 : 4
  const bits = length === undefined ? width[family] : Number(length)
  const rest = BigInt(width[family] - bits)
  return { family, first: (numberOf(address) >> rest) << rest, bits }
}

export const formatBlock = ({ family, first, bits }: Block): string =>
  bits === width[family] ? textOf(family, first) : `${textOf(family, first)}/${bits}`

/** The one way in which Cove writes an address. */
export const canonicalAddress = (text: string): string => formatBlock(parseBlock(text))

export const containsBlock = (outer: Block, inner: Block): boolean =>
  outer.family === inner.family &&
  outer.bits <= inner.bits &&
  inner.first >> BigInt(width[inner.family] - outer.bits) ===
    outer.first >> BigInt(width[outer.family] - outer.bits)

export const overlaps = (a: Block, b: Block): boolean => containsBlock(a, b) || containsBlock(b, a)

/** How many addresses it holds. */
export const sizeOf = ({ family, bits }: Block): number => 2 ** (width[family] - bits)

/** The address so many places after the first. */
export const addressAt = ({ family, first }: Block, offset: number): string =>
  textOf(family, first + BigInt(offset))

/** The mask of an IPv4 block as four numbers: `255.255.240.0`. */
export const maskOf = ({ bits }: Block): string =>
  textOf(4, ((1n << 32n) - 1n) ^ ((1n << BigInt(32 - bits)) - 1n))

/** Blocks that no other of them holds, in the order given. */
export const widest = (texts: readonly string[]): Block[] => {
  const blocks = [...new Set(texts.map((text) => formatBlock(parseBlock(text))))].map(parseBlock)
  return blocks.filter((block) =>
    blocks.every((other) => other === block || !containsBlock(other, block)),
  )
}

const numberOf = (address: string): bigint =>
  address.includes(':')
    ? groupsOf(address).reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
    : address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)

/** The eight numbers of an IPv6 address, whose end may be written as IPv4. */
const groupsOf = (address: string): number[] => {
  const [head = '', tail] = address.split('::')
  const parts = (text: string): number[] =>
    text === ''
      ? []
      : text.split(':').flatMap((part) => {
          if (!part.includes('.')) return [Number.parseInt(part, 16)]
          const number = Number(numberOf(part))
          return [Math.floor(number / 65_536), number % 65_536]
        })
  const [before, after] = [parts(head), parts(tail ?? '')]
  return [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
}

const textOf = (family: 4 | 6, number: bigint): string => {
  if (family === 4) return [24n, 16n, 8n, 0n].map((at) => (number >> at) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, at) => (number >> BigInt(112 - 16 * at)) & 0xffffn)
  const text = groups.map((group) => group.toString(16)).join(':')
  const zeros = [...text.matchAll(/(?:^|:)(?:0(?::|$)){2,}/g)]
  const longest = zeros.sort((a, b) => b[0].length - a[0].length)[0]
  return longest ? text.replace(longest[0], '::') : text
}
