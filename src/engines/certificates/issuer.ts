import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Dns01, orderCertificate } from './acme.ts'
import { openAuthority } from './authority.ts'
import { readKept } from './kept.ts'
import type { Vault } from './vault.ts'

/** Whoever makes certificates for names. */
export interface Issuer {
  /** In words, for the person who asked. */
  readonly called: string
  issue(names: readonly string[], proof: Dns01): Promise<{ key: string; chain: string }>
}

/** Cove's own authority: needs nobody, and is trusted by whoever trusts its certificate. */
export const localIssuer = async (folder: string, now: () => number): Promise<Issuer> => {
  const authority = await openAuthority(folder, now, 'Cove certificate authority')
  const file = join(folder, 'ca.pem')
  await writeFile(file, authority.ca)
  return {
    called: `Cove's own authority, whose certificate to trust is ${file}`,
    issue: async (names) => {
      const { key, cert } = authority.issue({ names, addresses: [] })
      return { key, chain: cert }
    },
  }
}

export interface AcmeSettings {
  directory: string
  contact?: string
  /** File with further authorities to trust for the directory itself. */
  trustFile?: string
}

/** An ACME server, such as Let's Encrypt; the account's key is kept sealed. */
export const acmeIssuer = (
  settings: AcmeSettings,
  parts: { folder: string; vault: Vault; sleep: (ms: number) => Promise<void> },
): Issuer => ({
  called: `the ACME server ${settings.directory}`,
  issue: async (names, proof) =>
    orderCertificate(
      {
        directory: settings.directory,
        accountKey: await accountKey(parts.folder, parts.vault),
        sleep: parts.sleep,
        ...(settings.contact && { contact: settings.contact }),
        ...(settings.trustFile && { trust: await readFile(settings.trustFile, 'utf8') }),
      },
      names,
      proof,
    ),
})

const accountKey = async (folder: string, vault: Vault): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'account.key')
  const label = 'acme account'
  const kept = await readKept(file) // the first order makes one
  if (kept !== undefined) return vault.open(kept, label)
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await writeFile(file, vault.seal(privateKey, label), { mode: 0o600 })
  return privateKey
}
