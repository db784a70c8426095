import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { bits, der, integer, octets, oid, sequence, set, time, utf8, yes } from './der.ts'
import { readKept } from './kept.ts'

/** Everything PEM. */
export interface IssuedCertificate {
  key: string
  cert: string
  /** What a client trusts to verify it. */
  ca: string
}

export interface CertificateAuthority {
  readonly ca: string
  issue(subject: {
    names: readonly string[]
    addresses: readonly string[]
    /** A client's certificate: this is who it says it is. */
    client?: string
  }): IssuedCertificate
}

const day = 86_400_000

/** The private authority kept in a folder; made on first use, the same one ever after. */
export const openAuthority = async (
  home: string,
  now: () => number,
  called = 'Cove database authority',
): Promise<CertificateAuthority> => {
  await mkdir(home, { recursive: true })
  const file = join(home, 'authority.pem')
  const kept = await readKept(file)
  const pem = kept ?? (await keep(file, makeAuthority(called, now())))
  const split = pem.indexOf('-----BEGIN CERTIFICATE')
  const key = createPrivateKey(pem.slice(0, split))
  const ca = pem.slice(split)
  const issuer = subjectName(called)
  return {
    ca,
    issue: ({ names, addresses, client }) => {
      const pair = newPair()
      const cert = certificate({
        issuer,
        subject: subjectName(client ?? names[0] ?? addresses[0] ?? 'cove'),
        publicKey: pair.publicKey,
        signWith: key,
        from: now() - day,
        until: now() + 825 * day,
        extensions: [
          extension('2.5.29.15', bits(Buffer.from([0x80]), 7), true),
          extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))),
          ...(names.length + addresses.length > 0
            ? [extension('2.5.29.17', sequence(...names.map(dnsName), ...addresses.map(ipName)))]
            : []),
        ],
      })
      return { key: pair.privateKey, cert, ca }
    },
  }
}

/** Written beside and renamed, so that a half-written key is never read. */
const keep = async (file: string, pem: string): Promise<string> => {
  await writeFile(`${file}.new`, pem, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return pem
}

const makeAuthority = (called: string, now: number): string => {
  const { privateKey, publicKey } = newPair()
  const name = subjectName(called)
  const cert = certificate({
    issuer: name,
    subject: name,
    publicKey,
    signWith: createPrivateKey(privateKey),
    from: now - day,
    until: now + 3650 * day,
    extensions: [
      extension('2.5.29.19', sequence(yes), true),
      extension('2.5.29.15', bits(Buffer.from([0x06]), 1), true),
      extension('2.5.29.14', octets(createHash('sha1').update(publicKey).digest())),
    ],
  })
  return privateKey + cert
}

const newPair = () =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

const subjectName = (name: string) => sequence(set(sequence(oid('2.5.4.3'), utf8(name))))
const dnsName = (name: string) => der(0x82, Buffer.from(name))
const ipName = (address: string) => {
  if (!isIPv4(address)) throw new Error(`${address} is not an IPv4 address.`)
  return der(0x87, Buffer.from(address.split('.').map(Number)))
}
const extension = (id: string, value: Uint8Array, critical = false) =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(value))

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

const certificate = (it: {
  issuer: Buffer
  subject: Buffer
  publicKey: Buffer
  signWith: ReturnType<typeof createPrivateKey>
  from: number
  until: number
  extensions: Buffer[]
}): string => {
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ecdsaWithSha256,
    it.issuer,
    sequence(time(new Date(it.from)), time(new Date(it.until))),
    it.subject,
    it.publicKey,
    der(0xa3, sequence(...it.extensions)),
  )
  const whole = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, it.signWith)))
  const lines = whole
    .toString('base64')
    .replace(/(.{64})/g, '$1\n')
    .trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
