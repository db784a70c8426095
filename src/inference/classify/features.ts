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

/** What a feature is about; each kind has buckets of its own. */
const kinds = {
  word: 1,
  pair: 2,
  early: 3,
  late: 4,
  notion: 5,
  earlyNotion: 6,
  notionPair: 7,
  opening: 8,
  look: 9,
  length: 10,
} as const

/** The features of a text: distinct buckets, with how much each counts. */
export const featuresOf = (text: string): Map<number, number> => {
  const found = new Map<number, number>()
  const add = (kind: number, value: number, weight = 1) => {
    const bucket = mixed(kind, value) & (dimensions - 1)
    if ((found.get(bucket) ?? 0) < weight) found.set(bucket, weight)
  }
  const words = wordsOf(text)
  const stems = words.map(stemOf)
  const hashes = stems.map(hash)
  const counts = new Map<Notion, number>()

  for (const [at, value] of hashes.entries()) {
    const next = hashes[at + 1]
    add(kinds.word, value, wordWeight)
    if (next !== undefined) add(kinds.pair, mixed(value, next), wordWeight)
    if (at < edge) add(kinds.early, value, wordWeight)
    if (at >= words.length - edge) add(kinds.late, value, wordWeight)
  }
  eachNotion(stems, (notion, length, at) => {
    counts.set(notion, (counts.get(notion) ?? 0) + length)
    if (at < edge) add(kinds.earlyNotion, hash(notion))
  })
  for (const [notion, count] of counts) {
    for (let level = 1; level <= Math.min(4, count); level++)
      add(kinds.notion, mixed(hash(notion), level))
  }
  const first = [...counts.keys()].slice(0, 4).map(hash)
  for (const [at, notion] of first.entries()) {
    for (const other of first.slice(at + 1)) add(kinds.notionPair, mixed(notion, other), pairWeight)
  }
  add(kinds.opening, hash(words[0] ?? ''))
  const shown = text.length > 2 * reach ? text.slice(0, reach) + text.slice(-reach) : text
  for (const [name, look] of looks) if (look.test(shown)) add(kinds.look, hash(name))
  add(kinds.length, Math.min(6, Math.floor(Math.log2(words.length + 1))))
  return found
}

/** Every notion of a word or a phrase of up to three, in their order. */
const eachNotion = (
  stems: readonly string[],
  visit: (notion: Notion, length: number, at: number) => void,
) => {
  for (const [at, stem] of stems.entries()) {
    let phrase = stem
    for (let length = 1; length <= 3; length++) {
      if (length > 1) {
        const next = stems[at + length - 1]
        if (next === undefined) break
        phrase += ` ${next}`
      }
      for (const notion of notionsOf.get(phrase) ?? []) visit(notion, length, at)
    }
  }
}

/** FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return value
}

/** One number of two, every bit depending on every bit. */
const mixed = (a: number, b: number): number => {
  let value = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ b
  value = Math.imul(value ^ (value >>> 16), 0xc2b2ae35)
  return value ^ (value >>> 15)
}
