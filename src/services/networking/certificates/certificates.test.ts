import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Issued, makeCertificate } from '../../../../test/pki.ts'
import { type World, world } from '../../../../test/world.ts'
import { certificates } from './contract.ts'
import { certificateRecords } from './records.ts'

let cove: World
let root: Issued
let middle: Issued
let leaf: Issued
beforeAll(async () => {
  cove = await world()
  cove.clock.advance(Date.now() + 60_000 - cove.clock.now()) // openssl takes the real time
  root = makeCertificate({ name: 'root', authority: true })
  middle = makeCertificate({ name: 'middle', authority: true, issuer: root })
  leaf = makeCertificate({
    name: 'leaf',
    issuer: middle,
    names: ['shop.example', '*.shop.example'],
  })
})
afterAll(() => cove.close())

const upload = (change: Record<string, string> = {}) => ({
  Name: 'upload',
  PrivateKey: leaf.key,
  LeafCertificate: leaf.cert,
  CertificateChain: middle.cert + root.cert,
  ...change,
})

interface Shown {
  certificate: { id: string; state: string; dns_names: string[]; sha1_fingerprint: string }
}

test('an own certificate is checked, kept without showing its key, and deleted', async () => {
  const { certificate } = (await cove.tool(
    'custom-certificate-create',
    upload(),
  )) as unknown as Shown
  expect(certificate).toMatchObject({
    type: 'custom',
    state: 'verified',
    dns_names: ['shop.example', '*.shop.example'],
  })
  const printed = execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-sha1'], {
    input: leaf.cert,
    encoding: 'utf8',
  })
  expect(printed.replaceAll(':', '').toLowerCase()).toContain(certificate.sha1_fingerprint)
  const answer = JSON.stringify(await cove.tool('certificate-get', { ID: certificate.id }))
  expect(answer).not.toContain('PRIVATE')
  expect(answer).not.toContain('BEGIN')
  const kept = await cove.store.collection(certificateRecords).require(certificate.id)
  expect(JSON.stringify(kept)).not.toContain('PRIVATE KEY')
  expect(await cove.refusal('custom-certificate-create', upload())).toContain(
    'name upload is taken',
  )
  await cove.tool('certificate-delete', { ID: certificate.id })
  expect(await cove.refusal('certificate-get', { ID: certificate.id })).toContain('was not found')
})

test('the faulty part of an own certificate is named', async () => {
  const other = makeCertificate({ name: 'other', issuer: root })
  const expired = makeCertificate({ name: 'old', issuer: middle, days: -1 })
  const small = makeCertificate({
    name: 'small',
    issuer: middle,
    keyType: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'],
  })
  const locked = execFileSync('openssl', ['pkcs8', '-topk8', '-passout', 'pass:x'], {
    input: leaf.key,
    encoding: 'utf8',
  })
  const cases: [Record<string, string>, string][] = [
    [{ PrivateKey: 'nonsense' }, 'private_key is not a private key in PEM form'],
    [{ PrivateKey: locked }, 'private_key is protected by a passphrase'],
    [{ PrivateKey: other.key }, 'private_key does not belong to leaf_certificate'],
    [{ PrivateKey: small.key, LeafCertificate: small.cert }, 'private_key has 1024 bits'],
    [{ LeafCertificate: 'nonsense' }, 'leaf_certificate is not a certificate in PEM form'],
    [{ LeafCertificate: leaf.cert + middle.cert }, 'leaf_certificate holds 2 certificates'],
    [
      { PrivateKey: middle.key, LeafCertificate: middle.cert },
      'leaf_certificate belongs to an authority',
    ],
    [{ PrivateKey: expired.key, LeafCertificate: expired.cert }, 'leaf_certificate expired at'],
    [{ CertificateChain: 'nonsense' }, 'certificate_chain is not a list of certificates'],
    [{ CertificateChain: root.cert }, 'certificate_chain[0] did not issue leaf_certificate'],
    [
      { CertificateChain: middle.cert + other.cert },
      'certificate_chain[1] did not issue certificate_chain[0]',
    ],
  ]
  for (const [change, reason] of cases) {
    expect(await cove.refusal('custom-certificate-create', upload(change))).toContain(reason)
  }
})

test('a chain that begins with the leaf again is taken', async () => {
  const chain = leaf.cert + middle.cert
  const made = await cove.tool(
    'custom-certificate-create',
    upload({ Name: 'again', CertificateChain: chain }),
  )
  expect(made).toHaveProperty('certificate.state', 'verified')
})

/** A failed attempt is made again after a moment; how it stands in the end. */
const untilIssued = async (id: string) => {
  const table = cove.store.collection(certificateRecords)
  for (let turn = 0; turn < 4; turn++) {
    await cove.settle()
    if ((await table.require(id)).state !== 'pending') break
    cove.clock.advance(2_000)
  }
  return table.standing(id)
}

test('names under own domains are certified by the local authority, and renewed in time', async () => {
  await cove.tool('domain-create', { Name: 'acme.example', IPAddress: '192.0.2.1' })
  const refused = await cove.refusal('acme-certificate-create', {
    Name: 'no',
    DnsNames: ['www.elsewhere.example'],
  })
  expect(refused).toContain('www.elsewhere.example is not under a domain of this account')
  const created = await cove.call('acme-certificate-create', {
    Name: 'site',
    DnsNames: ['acme.example', '*.acme.example'],
  })
  expect(created.content[1]?.text).toContain("Cove's own authority")
  const { id } = (created.structuredContent as unknown as Shown).certificate
  expect(created.structuredContent).toHaveProperty('certificate.state', 'pending')
  const standing = await untilIssued(id)
  const { certificate } = await cove.api(certificates.get, { path: { id } })
  expect(certificate, standing?.problem).toMatchObject({ state: 'verified', type: 'lets_encrypt' })
  expect(certificate.not_after).toBeTruthy()

  const kept = await cove.store.collection(certificateRecords).require(id)
  const verified = execFileSync(
    'openssl',
    [
      'verify',
      '-verify_hostname',
      'www.acme.example',
      '-CAfile',
      join(cove.home, 'certificates', 'ca.pem'),
    ],
    { input: kept.chain ?? '', encoding: 'utf8' },
  )
  expect(verified).toContain('OK')
  expect(readFileSync(join(cove.home, 'certificates', 'ca.pem'), 'utf8')).toContain(
    'BEGIN CERTIFICATE',
  )

  const left = Date.parse(certificate.not_after ?? '') - cove.clock.now()
  cove.clock.advance(left - 29 * 86_400_000)
  await cove.settle()
  const renewed = await cove.api(certificates.get, { path: { id } })
  expect(renewed.certificate.sha1_fingerprint).not.toBe(certificate.sha1_fingerprint)
  expect(Date.parse(renewed.certificate.not_after ?? '')).toBeGreaterThan(
    Date.parse(certificate.not_after ?? ''),
  )
})

test('what a certificate needs is said', async () => {
  const post = async (body: object) => {
    const response = await cove.fetch('/v2/certificates', {
      method: 'POST',
      body: JSON.stringify(body),
    })
    return `${response.status} ${await response.text()}`
  }
  expect(await post({ name: 'x', type: 'custom' })).toMatch(
    /^422.*private_key is required for custom/,
  )
  expect(await post({ name: 'x', type: 'lets_encrypt' })).toMatch(
    /^422.*dns_names must have at least 1 item/,
  )
  expect(await post({ name: 'x', type: 'lets_encrypt', dns_names: ['a b'] })).toMatch(
    /^422.*dns_names\[0\] must be a domain name/,
  )
  expect(await post({ type: 'custom' })).toMatch(/^422.*name is required/)
})
