import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { newRequest } from './csr.ts'
import { createSigner, type Signer } from './jws.ts'

export interface AcmeOptions {
  directory: string
  /** PEM of the account's key. */
  accountKey: string
  contact?: string
  /** Authorities to trust for the directory itself, besides the usual ones. */
  trust?: string
  sleep: (ms: number) => Promise<void>
}

/** Proves that a name is ours by putting these values where the server looks for them. */
export interface Dns01 {
  publish(name: string, values: string[]): Promise<void>
  withdraw(name: string): Promise<void>
}

interface Authorization {
  status: string
  identifier: { value: string }
  challenges: { type: string; url: string; token: string; status: string; error?: Problem }[]
}

interface Order {
  status: string
  authorizations: string[]
  finalize: string
  certificate?: string
  error?: Problem
}

interface Problem {
  detail?: string
}

/** Longest time for a server to check a name or to issue, in polls of one second. */
const patience = 90

/** A certificate of these names from an ACME server (RFC 8555), proven by dns-01. */
export const orderCertificate = async (
  options: AcmeOptions,
  names: readonly string[],
  proof: Dns01,
): Promise<{ key: string; chain: string }> => {
  const account = createPrivateKey(options.accountKey)
  const signer = await createSigner(options.directory, account, options)
  const placed = await signer.post(signer.directory.newOrder, {
    identifiers: names.map((value) => ({ type: 'dns', value })),
  })
  const order = placed.body as Order
  const orderUrl = placed.location
  await prove(signer, order, account, proof, options.sleep)
  const { key, csr } = newRequest(names)
  await signer.post(order.finalize, { csr: csr.toString('base64url') })
  const done = await until(options.sleep, async () => {
    const now = (await signer.post(orderUrl)).body as Order
    if (now.status === 'invalid') throw new Error(now.error?.detail ?? 'The order was refused.')
    return now.status === 'valid' && now.certificate ? now.certificate : undefined
  })
  const { text } = await signer.post(done)
  return { key, chain: text }
}

const prove = async (
  signer: Signer,
  order: Order,
  account: KeyObject,
  proof: Dns01,
  sleep: (ms: number) => Promise<void>,
): Promise<void> => {
  const values = new Map<string, string[]>()
  const open: { url: string; challenge: string; name: string }[] = []
  for (const url of order.authorizations) {
    const authorization = (await signer.post(url)).body as Authorization
    if (authorization.status === 'valid') continue
    const challenge = authorization.challenges.find(({ type }) => type === 'dns-01')
    if (!challenge)
      throw new Error(`The server offers no dns-01 for ${authorization.identifier.value}.`)
    // A name and its wildcard are proven at the same place, so one place may need two values.
    const place = `_acme-challenge.${authorization.identifier.value}`
    const digest = createHash('sha256').update(`${challenge.token}.${thumbprint(account)}`)
    values.set(place, [...(values.get(place) ?? []), digest.digest('base64url')])
    open.push({ url, challenge: challenge.url, name: authorization.identifier.value })
  }
  try {
    for (const [place, texts] of values) await proof.publish(place, texts)
    for (const { challenge } of open) await signer.post(challenge, {})
    for (const { url, name } of open) await untilValid(signer, url, name, sleep)
  } finally {
    for (const place of values.keys()) await proof.withdraw(place)
  }
}

const untilValid = (
  signer: Signer,
  url: string,
  name: string,
  sleep: (ms: number) => Promise<void>,
): Promise<true> =>
  until(sleep, async () => {
    const { status, challenges } = (await signer.post(url)).body as Authorization
    if (status === 'valid') return true
    if (status === 'pending') return undefined
    const reason = challenges.find(({ error }) => error)?.error?.detail ?? status
    throw new Error(`${name} could not be proven: ${reason}`)
  })

const until = async <T>(
  sleep: (ms: number) => Promise<void>,
  look: () => Promise<T | undefined>,
): Promise<T> => {
  for (let turn = 0; turn < patience; turn++) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(turn < 10 ? 200 : 1_000)
  }
  throw new Error('The ACME server did not come to an end in time.')
}

/** RFC 7638: the name of a key that its holder proves by. */
const thumbprint = (key: KeyObject): string => {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}
