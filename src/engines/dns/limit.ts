/** How many answers one network gets over UDP, where the sender of a question may be forged. */
export interface RateLimit {
  /** Answers a second to one /24 (IPv4) or /56 (IPv6). */
  perSecond: number
  /** Every so many refused answers a short one goes out that invites the client to TCP. */
  slip: number
  /** Whether clients on this machine are counted too; nobody else can forge their addresses. */
  loopback: boolean
}

export const defaultRateLimit: RateLimit = { perSecond: 500, slip: 2, loopback: false }

interface Bucket {
  tokens: number
  at: number
  refused: number
}

/** Networks remembered at once; a flood of forged senders must not eat the memory. */
const mostNetworks = 50_000

export type Verdict = 'answer' | 'truncate' | 'drop'

export const createLimiter = (limit: RateLimit) => {
  let buckets = new Map<string, Bucket>()
  return (address: string, now: number): Verdict => {
    if (!limit.loopback && (address.startsWith('127.') || address === '::1')) return 'answer'
    const network = networkOf(address)
    const bucket = buckets.get(network) ?? { tokens: limit.perSecond, at: now, refused: 0 }
    if (buckets.size >= mostNetworks) buckets = new Map()
    buckets.set(network, bucket)
    bucket.tokens = Math.min(
      limit.perSecond,
      bucket.tokens + ((now - bucket.at) / 1000) * limit.perSecond,
    )
    bucket.at = now
    if (bucket.tokens >= 1) {
      bucket.tokens--
      return 'answer'
    }
    return ++bucket.refused % limit.slip === 0 ? 'truncate' : 'drop'
  }
}

const networkOf = (address: string): string =>
  address.includes(':')
    ? address.split(':').slice(0, 4).join(':').slice(0, -2)
    : address.slice(0, address.lastIndexOf('.'))
