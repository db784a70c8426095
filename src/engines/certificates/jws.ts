import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { request } from 'node:https'
import { rootCertificates } from 'node:tls'

interface Directory {
  newNonce: string
  newAccount: string
  newOrder: string
}

interface Reply {
  body: unknown
  text: string
  location: string
}

/** Talks to an ACME server in signed messages. */
export interface Signer {
  directory: Directory
  /** Without a payload this reads. */
  post(url: string, payload?: object): Promise<Reply>
}

interface SignerOptions {
  contact?: string
  trust?: string
}

export const createSigner = async (
  directoryUrl: string,
  key: KeyObject,
  options: SignerOptions,
): Promise<Signer> => {
  const exchange = exchanger(options.trust)
  const directory = JSON.parse((await exchange('GET', directoryUrl)).text) as Directory
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' })
  let identity: object = { jwk: { kty, crv, x, y } }
  let nonce = ''

  const post = async (url: string, payload?: object, triesLeft = 3): Promise<Reply> => {
    if (nonce === '') nonce = (await exchange('HEAD', directory.newNonce)).nonce
    const head = encode({ alg: 'ES256', nonce, url, ...identity })
    const body = payload === undefined ? '' : encode(payload)
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), {
      key,
      dsaEncoding: 'ieee-p1363',
    })
    const message = { protected: head, payload: body, signature: signature.toString('base64url') }
    const reply = await exchange('POST', url, JSON.stringify(message))
    nonce = reply.nonce
    if (reply.status < 400) {
      const json = reply.type.includes('json') ? JSON.parse(reply.text) : undefined
      return { body: json, text: reply.text, location: reply.location }
    }
    const problem = problemOf(reply.text)
    // A nonce may go stale on the way; the answer brings a fresh one.
    if (problem.type?.endsWith(':badNonce') && triesLeft > 0)
      return post(url, payload, triesLeft - 1)
    throw new Error(`The ACME server answered ${reply.status}: ${problem.detail ?? reply.text}`)
  }

  const account = await post(directory.newAccount, {
    termsOfServiceAgreed: true,
    ...(options.contact && { contact: [`mailto:${options.contact}`] }),
  })
  identity = { kid: account.location }
  return { directory, post }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const problemOf = (text: string): { type?: string; detail?: string } => {
  try {
    return JSON.parse(text)
  } catch {
    return {} // not every proxy on the way speaks JSON
  }
}

const exchanger = (trust: string | undefined) => (method: string, url: string, body?: string) =>
  new Promise<{ status: number; text: string; nonce: string; location: string; type: string }>(
    (resolve, reject) => {
      const sent = request(url, {
        method,
        ...(trust && { ca: [...rootCertificates, trust] }),
        headers: { 'user-agent': 'cove', ...(body && { 'content-type': 'application/jose+json' }) },
        timeout: 30_000,
      })
      sent.on('timeout', () => sent.destroy(new Error(`${url} did not answer in time.`)))
      sent.on('error', reject)
      sent.on('response', (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(parts).toString(),
            nonce: String(response.headers['replay-nonce'] ?? ''),
            location: String(response.headers.location ?? ''),
            type: String(response.headers['content-type'] ?? ''),
          }),
        )
      })
      sent.end(body)
    },
  )
