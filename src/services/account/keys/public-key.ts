import { createHash } from 'node:crypto'
import { ApiError } from '#core/error.ts'

export interface PublicKey {
  /** The key without surrounding space, as it is kept. */
  line: string
  /** MD5 of the key's bytes in pairs, as the public API names keys. */
  fingerprint: string
}

/** The parts that follow the type inside the key's bytes, by type. */
const layouts: Record<string, readonly Part[]> = {
  'ssh-ed25519': [{ called: 'key', bytes: 32 }],
  'ssh-rsa': [{ called: 'exponent' }, { called: 'modulus', atLeast: 2048 / 8 }],
  'ecdsa-sha2-nistp256': [
    { called: 'curve', is: 'nistp256' },
    { called: 'point', bytes: 65 },
  ],
  'ecdsa-sha2-nistp384': [
    { called: 'curve', is: 'nistp384' },
    { called: 'point', bytes: 97 },
  ],
  'ecdsa-sha2-nistp521': [
    { called: 'curve', is: 'nistp521' },
    { called: 'point', bytes: 133 },
  ],
  'sk-ssh-ed25519@openssh.com': [{ called: 'key', bytes: 32 }, { called: 'application' }],
  'sk-ecdsa-sha2-nistp256@openssh.com': [
    { called: 'curve', is: 'nistp256' },
    { called: 'point', bytes: 65 },
    { called: 'application' },
  ],
}

interface Part {
  called: string
  bytes?: number
  atLeast?: number
  is?: string
}

/** Reads an OpenSSH public key and refuses anything that a server would not accept. */
export const parsePublicKey = (text: string): PublicKey => {
  const line = text.trim()
  if (/PRIVATE KEY/.test(line)) {
    throw ApiError.invalid('public_key is a private key. Send the content of the .pub file.')
  }
  if (/[\r\n]/.test(line)) throw ApiError.invalid('public_key must be one line.')
  const [type = '', encoded = ''] = line.split(/\s+/)
  const layout = layouts[type]
  if (!layout) {
    throw ApiError.invalid(
      `public_key has the type "${type.slice(0, 40)}"; it must be one of ${Object.keys(layouts).join(', ')}.`,
    )
  }
  const bytes = Buffer.from(encoded, 'base64')
  if (
    encoded === '' ||
    bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')
  ) {
    throw ApiError.invalid('public_key is not valid base64 after its type.')
  }
  checkParts(type, layout, partsOf(bytes))
  const digest = createHash('md5').update(bytes).digest('hex')
  return { line, fingerprint: digest.replace(/..(?!$)/g, '$&:') }
}

/** The key's bytes are texts, each behind its length in four bytes. */
const partsOf = (bytes: Buffer): Buffer[] => {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 <= bytes.length ? at + 4 + bytes.readUInt32BE(at) : Number.POSITIVE_INFINITY
    if (end > bytes.length) throw ApiError.invalid('public_key is cut off.')
    parts.push(bytes.subarray(at + 4, end))
    at = end
  }
  return parts
}

const checkParts = (type: string, layout: readonly Part[], [name, ...parts]: Buffer[]) => {
  if (name?.toString() !== type) {
    throw ApiError.invalid(`public_key says ${type}, but its bytes are of another type.`)
  }
  if (parts.length !== layout.length) throw ApiError.invalid('public_key is cut off or too long.')
  layout.forEach((expected, index) => {
    const part = parts[index] ?? Buffer.alloc(0)
    const length = part[0] === 0 ? part.length - 1 : part.length
    const right =
      part.length > 0 &&
      (expected.bytes === undefined || part.length === expected.bytes) &&
      (expected.atLeast === undefined || length >= expected.atLeast) &&
      (expected.is === undefined || part.toString() === expected.is)
    if (right) return
    const rule = expected.atLeast ? ` (at least ${expected.atLeast * 8} bits)` : ''
    throw ApiError.invalid(`public_key has a wrong ${expected.called}${rule}.`)
  })
}
