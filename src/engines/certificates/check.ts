import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { ApiError } from '#core/error.ts'

export interface GivenCertificate {
  private_key: string
  leaf_certificate: string
  certificate_chain?: string | undefined
}

export interface CheckedCertificate {
  names: string[]
  notAfter: Date
  /** SHA-1 in hexadecimal, as the public API shows it. */
  fingerprint: string
  /** Leaf first, then its issuers, each once. */
  chain: string
  key: string
}

const smallestRsaKey = 2048

/** Key, leaf and chain must be well-formed, in date and belong together; the first fault is told. */
export const checkCertificate = (given: GivenCertificate, now: Date): CheckedCertificate => {
  const key = readKey(given.private_key)
  const leaf = readLeaf(given.leaf_certificate, now)
  if (!leaf.checkPrivateKey(key)) {
    throw ApiError.invalid('private_key does not belong to leaf_certificate.')
  }
  const issuers = readChain(given.certificate_chain ?? '', leaf, now)
  return {
    ...factsOf(leaf),
    chain: [leaf, ...issuers].map((one) => one.toString()).join(''),
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** What the API shows of a certificate. */
export const factsOf = (leaf: X509Certificate) => ({
  names: (leaf.subjectAltName ?? '')
    .split(', ')
    .filter((part) => part.startsWith('DNS:'))
    .map((part) => part.slice(4)),
  notAfter: new Date(leaf.validTo),
  fingerprint: leaf.fingerprint.replaceAll(':', '').toLowerCase(),
})

const readKey = (pem: string): KeyObject => {
  if (/ENCRYPTED/.test(pem)) {
    throw ApiError.invalid('private_key is protected by a passphrase; send it without one.')
  }
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw ApiError.invalid('private_key is not a private key in PEM form.')
  }
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < smallestRsaKey) {
    throw ApiError.invalid(`private_key has ${bits} bits; RSA keys must have ${smallestRsaKey}.`)
  }
  return key
}

const blocksOf = (pem: string): string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []

const read = (pem: string, where: string): X509Certificate => {
  try {
    return new X509Certificate(pem)
  } catch {
    throw ApiError.invalid(`${where} is not a certificate in PEM form.`)
  }
}

const readLeaf = (pem: string, now: Date): X509Certificate => {
  const blocks = blocksOf(pem)
  if (blocks.length > 1) {
    throw ApiError.invalid(
      `leaf_certificate holds ${blocks.length} certificates; put the others into certificate_chain.`,
    )
  }
  const leaf = read(blocks[0] ?? pem, 'leaf_certificate')
  if (leaf.ca) {
    throw ApiError.invalid('leaf_certificate belongs to an authority; send the one it issued.')
  }
  checkDates(leaf, 'leaf_certificate', now)
  return leaf
}

const checkDates = (certificate: X509Certificate, where: string, now: Date): void => {
  if (new Date(certificate.validFrom) > now) {
    throw ApiError.invalid(`${where} is not valid before ${certificate.validFrom}.`)
  }
  if (new Date(certificate.validTo) < now) {
    throw ApiError.invalid(`${where} expired at ${certificate.validTo}.`)
  }
}

const readChain = (pem: string, leaf: X509Certificate, now: Date): X509Certificate[] => {
  const blocks = blocksOf(pem)
  if (blocks.length === 0 && pem.trim() !== '') {
    throw ApiError.invalid('certificate_chain is not a list of certificates in PEM form.')
  }
  const issuers: X509Certificate[] = []
  let issued = { certificate: leaf, where: 'leaf_certificate' }
  for (const [index, block] of blocks.entries()) {
    const where = `certificate_chain[${index}]`
    const certificate = read(block, where)
    // Many tools repeat the leaf at the head of the chain.
    if (certificate.fingerprint256 === leaf.fingerprint256) continue
    if (!isIssuerOf(certificate, issued.certificate)) {
      throw ApiError.invalid(`${where} did not issue ${issued.where}; the issuer comes next.`)
    }
    checkDates(certificate, where, now)
    issuers.push(certificate)
    issued = { certificate, where }
  }
  return issuers
}

const isIssuerOf = (issuer: X509Certificate, issued: X509Certificate): boolean =>
  issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey)
