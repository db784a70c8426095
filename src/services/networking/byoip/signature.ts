import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'

/** What the holder of a prefix signs, with the namespace below, using a key of the account. */
export const challengeOf = (prefix: string, region: string): string =>
  `I bring ${prefix} to ${region}\n`

export const namespace = 'byoip'

/**
 * Whether a signature as `ssh-keygen -Y sign` makes it is of this text, by one of the keys (lines as
 * in authorized_keys): undefined, or what is wrong.
 */
export const signatureFault = (
  signature: string,
  text: string,
  keys: readonly string[],
): string | undefined => {
  const armour = /-----BEGIN SSH SIGNATURE-----([A-Za-z0-9+/=\s]+)-----END SSH SIGNATURE-----/
  const body = armour.exec(signature)?.[1]
  if (!body) return 'signature is not what "ssh-keygen -Y sign" writes'
  const bytes = Buffer.from(body, 'base64')
  if (bytes.subarray(0, 6).toString() !== magic) return 'signature is damaged'
  const [key, space, , hash, proof] = fieldsOf(bytes.subarray(10))
  if (!key || !hash || !proof) return 'signature is cut off'
  if (space?.toString() !== namespace) return `signature is not for the namespace ${namespace}`
  const known = keys.some((line) => line.split(/\s+/)[1] === key.toString('base64'))
  if (!known) return 'signature is by a key that is not on the account'
  const digest = createHash(hash.toString()).update(text).digest()
  const signed = Buffer.concat([
    Buffer.from(magic),
    ...[space, Buffer.alloc(0), hash, digest].map(field),
  ])
  const [kind, raw] = fieldsOf(proof)
  if (!kind || !raw) return 'signature is cut off'
  return isBy(key, kind.toString(), raw, signed) ? undefined : 'signature is not of this challenge'
}

const magic = 'SSHSIG'

/** Texts, each behind its length in four bytes. */
const fieldsOf = (bytes: Buffer): Buffer[] => {
  const fields: Buffer[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return fields
    fields.push(bytes.subarray(at + 4, end))
    at = end
  }
  return fields
}

const field = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

const isBy = (key: Buffer, kind: string, proof: Buffer, signed: Buffer): boolean => {
  const [type, ...parts] = fieldsOf(key)
  const name = type?.toString() ?? ''
  if (name === 'ssh-ed25519') return verify(null, signed, edwards(parts), proof)
  if (name === 'ssh-rsa') {
    const hash = kind === 'rsa-sha2-256' ? 'sha256' : 'sha512'
    return verify(hash, signed, rsa(parts), proof)
  }
  const curve = curves[name]
  if (!curve) return false
  const [r, s] = fieldsOf(proof).map((number) => fixed(number, curve.bytes))
  if (!r || !s) return false
  const point = { key: elliptic(parts, curve), dsaEncoding: 'ieee-p1363' as const }
  return verify(curve.hash, signed, point, Buffer.concat([r, s]))
}

const curves: Record<string, { crv: string; bytes: number; hash: string }> = {
  'ecdsa-sha2-nistp256': { crv: 'P-256', bytes: 32, hash: 'sha256' },
  'ecdsa-sha2-nistp384': { crv: 'P-384', bytes: 48, hash: 'sha384' },
  'ecdsa-sha2-nistp521': { crv: 'P-521', bytes: 66, hash: 'sha512' },
}

/** A number of exactly so many bytes. */
const fixed = (number: Buffer, bytes: number): Buffer => {
  const rest = number.subarray(Math.max(0, number.length - bytes))
  return Buffer.concat([Buffer.alloc(bytes - rest.length), rest])
}

const jwk = (key: Record<string, string>): KeyObject => createPublicKey({ key, format: 'jwk' })
const base = (bytes: Buffer | undefined): string => bytes?.toString('base64url') ?? ''

const edwards = ([x]: Buffer[]): KeyObject => jwk({ kty: 'OKP', crv: 'Ed25519', x: base(x) })
const rsa = ([e, n]: Buffer[]): KeyObject => jwk({ kty: 'RSA', e: base(e), n: base(n) })
const elliptic = ([, point]: Buffer[], { crv, bytes }: { crv: string; bytes: number }): KeyObject =>
  jwk({
    kty: 'EC',
    crv,
    x: base(point?.subarray(1, 1 + bytes)),
    y: base(point?.subarray(1 + bytes)),
  })
