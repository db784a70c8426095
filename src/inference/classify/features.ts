import { type Notion, notionsOf } from './concepts.ts'
import { stemOf } from './stem.ts'

/** Buckets that features are hashed into; a power of two. */
export const dimensions = 1 << 15

/**
 * Words looked at. People say what they want at the beginning or at the end; between the two lies
 * what they pasted, which is about anything.
 */
const head = 64
const tail = 32
/** Characters that surely hold so many words. */
const reach = 4000
/** Words at either end that count once more, as the place where people state their wish. */
const edge = 10
/** A notion says more than a single word. */
const wordWeight = 0.5
const pairWeight = 0.5

/** What a text looks like, apart from its words. */
const looks: [string, RegExp][] = [
  ['fence', /```/],
  ['code', /[;{}]\s*$|=>|\(\)|::|\bdef |\bfunction\b|#include|<\/?[a-z]+>|\w\(\w*\)|\w\[\w+\]/m],
  ['unfinished', /[({[.,=:+]\s*$|=>\s*\{?\s*$/],
  ['gap', /<cursor>|<fim|\[mask\]|____|\bTODO\b/i],
  ['trace', /\b\w*(Error|Exception)\b|Traceback|at line \d+|stack trace/],
  ['table', /\|.*\|.*\||^\s*\w+(,\w+){2,}$/m],
  ['json', /\{\s*"?\w+"?\s*[:,]|\bJSON\b/],
  ['question', /\?\s*$/],
  [
    'foreign',
    /[àâäçéèêëîïñóöùúûüßøåæœ¿¡\u0400-\u04ff\u0590-\u06ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/i,
  ],
  ['quoted', /["“«].{8,}["”»]/s],
  ['i', /\b(I|I'm|my|me)\b/],
  ['number', /\d/],
]

/** The words of a text, without the middle of a long one. */
export const wordsOf = (text: string): string[] => {
  const words = split(text.slice(0, reach))
  if (text.length <= reach && words.length <= head + tail) return words
  return [...words.slice(0, head), ...split(text.slice(-reach)).slice(-tail)]
}

const split = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}_]+|[#<>{}[\]()=+*/|?]/gu) ?? []

/** The features of a text: distinct buckets, with how much each counts. */
export const featuresOf = (text: string): Map<number, number> => {
  const found = new Map<number, number>()
  const add = (kind: string, value: string, weight = 1) => {
    const bucket = hash(kind + value)
    found.set(bucket, Math.max(found.get(bucket) ?? 0, weight))
  }
  const words = wordsOf(text)
  const stems = words.map(stemOf)
  const order: Notion[] = []
  const counts = new Map<Notion, number>()
  for (let at = 0; at < words.length; at++) {
    const stem = stems[at] as string
    const next = stems[at + 1]
    add('w', stem, wordWeight)
    if (next !== undefined) add('b', `${stem} ${next}`, wordWeight)
    if (at < edge) add('^', stem, wordWeight)
    if (at >= words.length - edge) add('$', stem, wordWeight)
    for (let length = 1, phrase = ''; length <= 3 && at + length <= words.length; length++) {
      phrase = length === 1 ? stem : `${phrase} ${stems[at + length - 1]}`
      for (const notion of notionsOf.get(phrase) ?? []) {
        counts.set(notion, (counts.get(notion) ?? 0) + length)
        if (at < edge) add('c^', notion)
        if (!order.includes(notion)) order.push(notion)
      }
    }
  }
  for (const [notion, count] of counts) {
    for (let level = 1; level <= Math.min(4, count); level++) add('c', `${notion} ${level}`)
  }
  for (let at = 0; at < Math.min(4, order.length); at++) {
    for (let then = at + 1; then < Math.min(4, order.length); then++)
      add('cc', `${order[at]} ${order[then]}`, pairWeight)
  }
  add('1', words[0] ?? '')
  const shown = text.length > 2 * reach ? text.slice(0, reach) + text.slice(-reach) : text
  for (const [name, look] of looks) if (look.test(shown)) add('?', name)
  add('l', String(Math.min(6, Math.floor(Math.log2(words.length + 1)))))
  return found
}

/** FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value ^= text.charCodeAt(at)
    value = Math.imul(value, 0x01000193)
  }
  return (value ^ (value >>> 15)) & (dimensions - 1)
}
