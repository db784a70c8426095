/**
 * Names are kept as they travel: labels with their lengths before them and a zero at the end, one
 * character for a byte, lower case. A parent is then a suffix, and no byte needs an escape.
 */
export type NameKey = string

export const keyOf = (name: string): NameKey => {
  const labels = name.replace(/\.$/, '').toLowerCase().split('.')
  if (name === '.' || name === '') return '\0'
  return `${labels.map((label) => String.fromCharCode(label.length) + label).join('')}\0`
}

/** The key without its first label; undefined for the root. */
export const parentOf = (key: NameKey): NameKey | undefined => {
  const length = key.charCodeAt(0)
  return length === 0 ? undefined : key.slice(length + 1)
}

export const wildcardOf = (key: NameKey): NameKey => `\x01*${key}`

export const bytesOf = (key: NameKey): Buffer => Buffer.from(key, 'latin1')

/** Longest name in bytes, as the protocol has it. */
export const longestName = 255
