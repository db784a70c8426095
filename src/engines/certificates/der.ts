/** Just enough DER to write an X.509 certificate (RFC 5280); reading is left to node:crypto. */
export const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), length(body.length), body])
}

const length = (size: number): Buffer => {
  if (size < 0x80) return Buffer.from([size])
  const bytes = Buffer.from(size.toString(16).padStart(size > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

export const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
export const set = (...parts: Uint8Array[]) => der(0x31, ...parts)
export const octets = (...parts: Uint8Array[]) => der(0x04, ...parts)
export const bits = (content: Uint8Array, unused = 0) => der(0x03, Buffer.from([unused]), content)
export const utf8 = (text: string) => der(0x0c, Buffer.from(text))
export const yes = der(0x01, Buffer.from([0xff]))

/** A positive integer from its bytes. */
export const integer = (bytes: Uint8Array) =>
  der(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.from([0]) : Buffer.alloc(0), bytes)

/** Object identifier: `2.5.29.17` */
export const oid = (dotted: string) => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

const base128 = (value: number): number[] => {
  const digits = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}

/** UTCTime up to 2049, GeneralizedTime after. */
export const time = (at: Date) => {
  const text = `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return at.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(text.slice(2)))
    : der(0x18, Buffer.from(text))
}
