import { isIPv6 } from 'node:net'
import { bytesOf, keyOf, type NameKey } from './name.ts'
import type { Zone, ZoneRecord } from './zone.ts'

export const types = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const

/** The data of one record, ready to send. */
export interface Rdata {
  bytes: Buffer
  /** The host it points to, whose addresses may come along. */
  target?: NameKey
}

export const rdataOf = (record: ZoneRecord): Rdata => {
  const text = typeof record.data === 'string' ? record.data : record.data.join('')
  switch (record.type) {
    case 'A':
      return { bytes: Buffer.from(text.split('.').map(Number)) }
    case 'AAAA':
      return { bytes: ipv6Bytes(text) }
    case 'NS':
    case 'CNAME':
      return pointing(Buffer.alloc(0), text)
    case 'MX':
      return pointing(shorts(record.priority), text)
    case 'SRV':
      return pointing(shorts(record.priority, record.weight, record.port), text)
    case 'TXT':
      return { bytes: Buffer.concat(stringsOf(record.data).map(counted)) }
    case 'CAA': {
      const tag = Buffer.from(record.tag ?? '')
      return {
        bytes: Buffer.concat([
          Buffer.from([record.flags ?? 0, tag.length]),
          tag,
          Buffer.from(text),
        ]),
      }
    }
    default:
      throw new Error(`Records of type ${record.type} cannot be served.`)
  }
}

export const soaOf = (zone: Zone): Rdata => {
  const numbers = Buffer.alloc(20)
  const fields = [zone.serial >>> 0, 10_800, 3_600, 604_800, zone.negativeTtl]
  for (const [index, field] of fields.entries()) numbers.writeUInt32BE(field, index * 4)
  return {
    bytes: Buffer.concat([bytesOf(keyOf(zone.primary)), bytesOf(keyOf(zone.contact)), numbers]),
  }
}

const pointing = (before: Buffer, host: string): Rdata => {
  const target = keyOf(host)
  return { bytes: Buffer.concat([before, bytesOf(target)]), target }
}

const shorts = (...values: (number | undefined)[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value ?? 0, index * 2)
  return bytes
}

/** A string of a TXT record holds at most 255 bytes; longer text goes out in several. */
const stringsOf = (data: string | string[]): Buffer[] =>
  (typeof data === 'string' ? [data] : data).flatMap((text) => {
    const bytes = Buffer.from(text)
    const parts: Buffer[] = []
    for (let at = 0; at < bytes.length || at === 0; at += 255)
      parts.push(bytes.subarray(at, at + 255))
    return parts
  })

const counted = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([bytes.length]), bytes])

const ipv6Bytes = (text: string): Buffer => {
  if (!isIPv6(text)) throw new Error(`${text} is not an IPv6 address.`)
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  const plain = dotted
    ? `${dotted[1]}${hexPair(dotted[2], dotted[3])}:${hexPair(dotted[4], dotted[5])}`
    : text
  const [head = '', tail] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after]
  return shorts(...groups.map((group) => Number.parseInt(group, 16)))
}

const hexPair = (high = '0', low = '0'): string => (Number(high) * 256 + Number(low)).toString(16)
