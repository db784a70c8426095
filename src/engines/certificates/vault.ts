import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Keeps secrets unreadable in the store: whoever gets the store alone gets none of them. */
export interface Vault {
  /** `label` ties a secret to its place: it cannot be opened under another. */
  seal(secret: string, label: string): string
  open(sealed: string, label: string): string
}

const cipher = 'aes-256-gcm'
const sizes = { key: 32, nonce: 12, tag: 16 }

/** The vault whose key lies in a folder; made on first use, the same one ever after. */
export const openVault = async (folder: string): Promise<Vault> => {
  const key = await keyIn(folder)
  return {
    seal: (secret, label) => {
      const nonce = randomBytes(sizes.nonce)
      const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(label))
      const body = Buffer.concat([sealing.update(secret, 'utf8'), sealing.final()])
      return Buffer.concat([nonce, sealing.getAuthTag(), body]).toString('base64')
    },
    open: (sealed, label) => {
      const bytes = Buffer.from(sealed, 'base64')
      const nonce = bytes.subarray(0, sizes.nonce)
      const tag = bytes.subarray(sizes.nonce, sizes.nonce + sizes.tag)
      const opening = createDecipheriv(cipher, key, nonce)
        .setAAD(Buffer.from(label))
        .setAuthTag(tag)
      const body = bytes.subarray(sizes.nonce + sizes.tag)
      return Buffer.concat([opening.update(body), opening.final()]).toString('utf8')
    },
  }
}

const keyIn = async (folder: string): Promise<Buffer> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'vault.key')
  try {
    // Two starts at once agree on whoever was first.
    await writeFile(file, randomBytes(sizes.key), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = await readFile(file)
  if (key.length !== sizes.key) throw new Error(`${file} is damaged: it must hold 32 bytes.`)
  return key
}
