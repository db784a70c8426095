import { stem } from './stem.ts'

/**
 * The words by which keyword search finds a text: lower case, without accents, English words
 * stemmed, words that say nothing left out. A name such as `readFileSync` also counts as its parts;
 * Chinese, Japanese, Korean and Thai, written without spaces, count as pairs of characters.
 */
export const termsOf = (text: string): string[] => {
  const terms: string[] = []
  for (const [run] of plain(text).matchAll(wordPattern)) {
    if (unspaced.test(run)) {
      const letters = [...run]
      if (letters.length === 1) terms.push(run)
      for (let at = 1; at < letters.length; at++) terms.push(`${letters[at - 1]}${letters[at]}`)
      continue
    }
    add(terms, run.toLowerCase())
    if (!camel.test(run)) continue
    for (const part of run.split(humps)) if (part) add(terms, part.toLowerCase())
  }
  return terms
}

const add = (terms: string[], word: string) => {
  if (word.length <= longest && !stopWords.has(word)) terms.push(stem(word))
}

/** Longer runs are keys, hashes and encoded data. */
const longest = 64

const scripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}'
const wordPattern = new RegExp(`[${scripts}]+|(?:(?![${scripts}])[\\p{L}\\p{N}])+`, 'gu')
const unspaced = new RegExp(`^[${scripts}]`, 'u')
const camel = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u
const humps = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})/u

const stopWords = new Set(
  `a about above after again against all also am an and any are as at be because been before being
  below between both but by can could did do does doing down during each few for from further had has
  have having he her here hers him his how i if in into is it its itself just me more most my no nor
  not of off on once only or other our ours out over own same she should so some such than that the
  their theirs them then there these they this those through to too under until up very was we were
  what when where which while who whom why will with would you your yours`.split(/\s+/),
)

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')
