import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { bits, der, integer, octets, oid, sequence, set, utf8 } from './der.ts'

/** A new key and the request for a certificate of these names. */
export const newRequest = (names: readonly string[]): { key: string; csr: Buffer } => {
  const { privateKey: key, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const alternatives = sequence(...names.map((name) => der(0x82, Buffer.from(name))))
  const extensions = sequence(sequence(oid('2.5.29.17'), octets(alternatives)))
  const info = sequence(
    integer(Buffer.from([0])),
    sequence(set(sequence(oid('2.5.4.3'), utf8(names[0] ?? '')))),
    publicKey,
    der(0xa0, sequence(oid('1.2.840.113549.1.9.14'), set(extensions))),
  )
  const signature = sign('sha256', info, createPrivateKey(key))
  return { key, csr: sequence(info, sequence(oid('1.2.840.10045.4.3.2')), bits(signature)) }
}
