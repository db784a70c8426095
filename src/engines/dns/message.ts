import { longestName, type NameKey } from './name.ts'
import { types } from './rdata.ts'
import { type Placed, type Resolution, rcodes } from './resolve.ts'

/** A question as it was read; `end` is where the question section ends. */
export interface Query {
  flags: number
  name: NameKey
  type: number
  class: number
  end: number
  edns?: { size: number; version: number; dnssec: boolean }
}

/** Where a query stops making sense. */
export const malformed = Symbol('malformed')

/** The size of an answer that no path on the way has to cut in pieces. */
const safeSize = 1232

export const readQuery = (bytes: Buffer): Query | typeof malformed => {
  if (bytes.readUInt16BE(4) !== 1) return malformed
  const nameEnd = endOfName(bytes, 12)
  if (nameEnd === undefined || nameEnd - 12 > longestName || nameEnd + 4 > bytes.length)
    return malformed
  const query: Query = {
    flags: bytes.readUInt16BE(2),
    // Only A to Z have a lower case in the protocol; other bytes stand for themselves.
    name: bytes.toString('latin1', 12, nameEnd).replace(/[A-Z]+/g, lower),
    type: bytes.readUInt16BE(nameEnd),
    class: bytes.readUInt16BE(nameEnd + 2),
    end: nameEnd + 4,
  }
  return readOption(bytes, query)
}

const lower = (text: string): string => text.toLowerCase()

/** Where a name without pointers ends; questions have no use for pointers. */
const endOfName = (bytes: Buffer, start: number): number | undefined => {
  let at = start
  while (at < bytes.length) {
    const length = bytes[at] ?? 0
    if (length === 0) return at + 1
    if (length > 63) return undefined
    at += length + 1
  }
  return undefined
}

/** The EDNS option record, wherever it stands behind the question. */
const readOption = (bytes: Buffer, query: Query): Query | typeof malformed => {
  const plain = bytes.readUInt16BE(6) + bytes.readUInt16BE(8)
  const total = plain + bytes.readUInt16BE(10)
  let at = query.end
  for (let index = 0; index < total; index++) {
    while (at < bytes.length && (bytes[at] ?? 0) > 0 && (bytes[at] ?? 0) < 64)
      at += (bytes[at] ?? 0) + 1
    const start = at
    at += (bytes[at] ?? 0) >= 0xc0 ? 2 : 1
    if (at + 10 > bytes.length) return malformed
    if (index >= plain && bytes.readUInt16BE(at) === types.OPT) {
      if (query.edns || bytes[start] !== 0) return malformed
      query.edns = {
        size: bytes.readUInt16BE(at + 2),
        version: bytes[at + 5] ?? 0,
        dnssec: ((bytes[at + 6] ?? 0) & 0x80) !== 0,
      }
    }
    at += 10 + bytes.readUInt16BE(at + 8)
    if (at > bytes.length) return malformed
  }
  return query
}

export const udpLimit = (query: Query): number =>
  query.edns ? Math.min(safeSize, Math.max(512, query.edns.size)) : 512

const bits = { response: 0x8000, authoritative: 0x0400, truncated: 0x0200, kept: 0x7900 }

/** A response that repeats the question and says only a code. */
export const writeCode = (request: Buffer, query: Query | undefined, rcode: number): Buffer => {
  const end = query?.end ?? 12
  const option = query?.edns
  const bytes = Buffer.alloc(end + (option ? 11 : 0))
  request.copy(bytes, 0, 0, end)
  bytes.writeUInt16BE(bits.response | (request.readUInt16BE(2) & bits.kept) | (rcode & 15), 2)
  bytes.writeUInt16BE(query ? 1 : 0, 4)
  bytes.fill(0, 6, 12)
  if (option) {
    bytes[11] = 1
    writeOption(bytes, end, rcode, option.dnssec)
  }
  return bytes
}

/** The same, saying that the answer does not fit and should be asked for over TCP. */
export const writeTruncated = (request: Buffer, query: Query, authoritative = false): Buffer => {
  const bytes = writeCode(request, query, rcodes.ok)
  const said = bits.truncated | (authoritative ? bits.authoritative : 0)
  bytes.writeUInt16BE(bytes.readUInt16BE(2) | said, 2)
  return bytes
}

const writeOption = (bytes: Buffer, at: number, rcode: number, dnssec: boolean): void => {
  bytes[at] = 0
  bytes.writeUInt16BE(types.OPT, at + 1)
  bytes.writeUInt16BE(safeSize, at + 3)
  bytes[at + 5] = rcode >> 4
  bytes[at + 6] = 0
  bytes.writeUInt16BE(dnssec ? 0x8000 : 0, at + 7)
  bytes.writeUInt16BE(0, at + 9)
}

export const writeAnswer = (
  request: Buffer,
  query: Query,
  found: Resolution,
  limit: number,
): Buffer => {
  const room = limit - (query.edns ? 11 : 0)
  const needed = [...found.answer, ...found.authority]
  const least = needed.reduce((sum, placed) => sum + sizeOf(placed), query.end)
  if (least > room) return writeTruncated(request, query, found.authoritative)
  const extra: Placed[] = []
  let size = least
  for (const placed of found.additional) {
    size += sizeOf(placed)
    if (size > room) break
    extra.push(placed)
  }
  const bytes = Buffer.allocUnsafe(Math.min(limit, size + 11))
  request.copy(bytes, 0, 0, query.end)
  const authoritative = found.authoritative ? bits.authoritative : 0
  bytes.writeUInt16BE(bits.response | authoritative | (query.flags & bits.kept) | found.rcode, 2)
  bytes.writeUInt16BE(1, 4)
  let at = query.end
  const names = new Map<NameKey, number>()
  const section = (offset: number, list: readonly Placed[], more = 0): void => {
    let count = more
    for (const placed of list) {
      at = writeSet(bytes, at, placed, query.name, names)
      count += placed.set.records.length
    }
    bytes.writeUInt16BE(count, offset)
  }
  section(6, found.answer)
  section(8, found.authority)
  section(10, extra, query.edns ? 1 : 0)
  if (query.edns) {
    writeOption(bytes, at, found.rcode, query.edns.dnssec)
    at += 11
  }
  return bytes.subarray(0, at)
}

/** Bytes a set takes at most, with its name written in full. */
const sizeOf = ({ owner, set }: Placed): number =>
  set.records.reduce((sum, record) => sum + owner.length + 10 + record.bytes.length, 0)

const writeSet = (
  bytes: Buffer,
  start: number,
  { owner, set }: Placed,
  question: NameKey,
  names: Map<NameKey, number>,
): number => {
  let at = start
  for (const record of set.records) {
    const before = question.endsWith(owner) ? 12 + question.length - owner.length : names.get(owner)
    if (before !== undefined) {
      bytes.writeUInt16BE(0xc000 | before, at)
      at += 2
    } else {
      if (at < 0x4000) names.set(owner, at)
      at += bytes.write(owner, at, 'latin1')
    }
    bytes.writeUInt16BE(set.type, at)
    bytes.writeUInt16BE(1, at + 2)
    bytes.writeUInt32BE(set.ttl, at + 4)
    bytes.writeUInt16BE(record.bytes.length, at + 8)
    record.bytes.copy(bytes, at + 10)
    at += 10 + record.bytes.length
  }
  return at
}
