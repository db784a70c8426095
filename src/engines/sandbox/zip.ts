import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ApiError } from '#core/error.ts'

/** A zip archive, as actions with several files are sent. */
interface Entry {
  name: string
  method: number
  packed: number
  size: number
  offset: number
  mode: number
}

const most = { entries: 100_000, bytes: 512 * 1024 * 1024 }
const endMark = 0x06054b50
const entryMark = 0x02014b50
const fileMark = 0x04034b50
const isFolder = 0o040000
const isLink = 0o120000
const kindMask = 0o170000

const bad = (why: string) => ApiError.badRequest(`The archive cannot be unpacked: ${why}.`)

export const isZip = (bytes: Buffer): boolean =>
  bytes.length > 4 && bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] ?? 9) < 9

/** Write the archive's files under a folder; nothing ever lands outside it. */
export const unzip = async (archive: Buffer, folder: string): Promise<void> => {
  const entries = directory(archive)
  if (entries.reduce((sum, entry) => sum + entry.size, 0) > most.bytes)
    throw bad(`it holds more than ${most.bytes} bytes`)
  for (const entry of entries) {
    const target = within(folder, entry.name)
    if (entry.name.endsWith('/') || (entry.mode & kindMask) === isFolder) {
      await mkdir(target, { recursive: true })
      continue
    }
    await mkdir(path.dirname(target), { recursive: true })
    const bytes = content(archive, entry)
    if ((entry.mode & kindMask) === isLink) {
      const to = bytes.toString()
      within(folder, path.join(path.dirname(entry.name), to))
      await symlink(to, target)
    } else await writeFile(target, bytes, { mode: entry.mode & 0o111 ? 0o755 : 0o644, flag: 'wx' })
  }
}

const within = (folder: string, name: string): string => {
  const target = path.resolve(folder, name)
  if (path.isAbsolute(name) || (target !== folder && !target.startsWith(folder + path.sep)))
    throw bad(`"${name}" leads out of it`)
  return target
}

const directory = (archive: Buffer): Entry[] => {
  let end = archive.length - 22
  while (end >= 0 && archive.readUInt32LE(end) !== endMark) end--
  if (end < 0) throw bad('it is no zip file')
  const count = archive.readUInt16LE(end + 10)
  if (count > most.entries) throw bad(`it holds more than ${most.entries} files`)
  const entries: Entry[] = []
  let at = archive.readUInt32LE(end + 16)
  for (let n = 0; n < count; n++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== entryMark)
      throw bad('its directory is damaged')
    const nameLength = archive.readUInt16LE(at + 28)
    entries.push({
      name: archive.toString('utf8', at + 46, at + 46 + nameLength),
      method: archive.readUInt16LE(at + 10),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      offset: archive.readUInt32LE(at + 42),
      mode: archive.readUInt32LE(at + 38) >>> 16,
    })
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

const content = (archive: Buffer, { name, method, packed, size, offset }: Entry): Buffer => {
  if (offset + 30 > archive.length) throw bad('its directory is damaged')
  const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28)
  const bytes = archive.subarray(start, start + packed)
  if (method === 0) return bytes
  if (method !== 8) throw bad(`"${name}" is packed in an unknown way`)
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1) })
  } catch {
    throw bad(`"${name}" is damaged or larger than it says`)
  }
}

/** A folder with all that is in it, as an archive; what `leaveOut` names is left out. */
export const zipFolder = async (
  folder: string,
  leaveOut: (path: string) => boolean = () => false,
): Promise<Buffer> => {
  const parts: Buffer[] = []
  const index: Buffer[] = []
  let offset = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name)
    const name = path.relative(folder, file).split(path.sep).join('/')
    if (leaveOut(name) || !(entry.isFile() || entry.isSymbolicLink())) continue
    const link = entry.isSymbolicLink()
    const bytes = link ? Buffer.from(await readlink(file)) : await readFile(file)
    const mode = link ? isLink | 0o777 : 0o100000 | ((await stat(file)).mode & 0o777)
    const packed = deflateRawSync(bytes)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(0x0800, 2)
    facts.writeUInt16LE(8, 4)
    // Always the same date, so that equal folders make equal archives.
    facts.writeUInt32LE(0x00210000, 6)
    facts.writeUInt32LE(checksum(bytes), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(bytes.length, 18)
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    parts.push(mark(fileMark), facts, Buffer.from(name), packed)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(mode * 0x10000, 6)
    tail.writeUInt32LE(offset, 10)
    index.push(mark(entryMark), Buffer.from([20, 3]), facts, tail, Buffer.from(name))
    offset += 30 + Buffer.byteLength(name) + packed.length
  }
  const directoryBytes = Buffer.concat(index)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(index.length / 5, 4)
  end.writeUInt16LE(index.length / 5, 6)
  end.writeUInt32LE(directoryBytes.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, directoryBytes, mark(endMark), end])
}

const mark = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

const checksum = (bytes: Buffer): number => {
  let sum = 0xffffffff
  for (const byte of bytes) sum = (sum >>> 8) ^ (table[(sum ^ byte) & 255] ?? 0)
  return (sum ^ 0xffffffff) >>> 0
}
