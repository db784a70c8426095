/** What is kept of a tool call: who did what, with what outcome. Secrets never get here. */
export interface AuditRecord {
  time: string
  who: string
  tool: string
  arguments: unknown
  outcome: 'ok' | 'error' | 'refused'
  /** What went wrong, as the caller was told. */
  message?: string
  duration_ms: number
}

export interface Audit {
  write(record: AuditRecord): void
}

const secretName = /pass(word|phrase)?$|secret|private_?key|token|api_?key|credential/i
const longest = 500

/** The arguments as they may be written down. */
export const withoutSecrets = (value: unknown, name = ''): unknown => {
  if (value !== undefined && value !== null && secretName.test(name)) return '[removed]'
  if (typeof value === 'string')
    return shortened(value.replace(/(\/\/[^\s/:@]*:)[^\s/@]+@/g, '$1[removed]@'))
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withoutSecrets(part, key)]),
  )
}

const shortened = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
