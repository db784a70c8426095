import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Issued {
  key: string
  cert: string
}

/** A certificate made with openssl, as people make them. */
export const makeCertificate = (options: {
  name: string
  issuer?: Issued
  authority?: boolean
  names?: string[]
  days?: number
  keyType?: string[]
}): Issued => {
  const folder = mkdtempSync(join(tmpdir(), 'cove-pki-'))
  const at = (file: string) => join(folder, file)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const { keyType = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'] } = options
  openssl('genpkey', ...keyType, '-out', at('key'))
  openssl('req', '-new', '-key', at('key'), '-subj', `/CN=${options.name}`, '-out', at('csr'))
  const names = (options.names ?? []).map((name) => `DNS:${name}`).join(',')
  writeFileSync(
    at('ext'),
    [
      `basicConstraints=critical,CA:${options.authority ? 'TRUE' : 'FALSE'}`,
      ...(names ? [`subjectAltName=${names}`] : []),
    ].join('\n'),
  )
  const days = ['-days', String(options.days ?? 90)]
  if (options.issuer) {
    writeFileSync(at('ca.pem'), options.issuer.cert)
    writeFileSync(at('ca.key'), options.issuer.key)
  }
  const signer = options.issuer
    ? ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial']
    : ['-signkey', at('key')]
  openssl(
    'x509',
    '-req',
    '-in',
    at('csr'),
    ...signer,
    ...days,
    '-extfile',
    at('ext'),
    '-out',
    at('cert'),
  )
  return { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') }
}
