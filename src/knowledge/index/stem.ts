/** Porter's stemmer for English: `connections`, `connected` and `connecting` become `connect`. */
export const stem = (word: string): string => {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  return steps.reduce((form, step) => step(form), word)
}

const vowel = (word: string, at: number): boolean => {
  const letter = word[at]
  if (letter === 'y') return at > 0 && !vowel(word, at - 1)
  return letter !== undefined && 'aeiou'.includes(letter)
}

/** How often a run of vowels is followed by consonants. */
const measure = (word: string): number => {
  let count = 0
  let before = false
  for (let at = 0; at < word.length; at++) {
    const now = vowel(word, at)
    if (before && !now) count++
    before = now
  }
  return count
}

const hasVowel = (word: string): boolean => {
  for (let at = 0; at < word.length; at++) if (vowel(word, at)) return true
  return false
}

const doubled = (word: string): boolean =>
  word.length > 1 && word.at(-1) === word.at(-2) && !vowel(word, word.length - 1)

/** consonant, vowel, consonant; the last not w, x or y: `hop` */
const short = (word: string): boolean => {
  const end = word.length - 1
  return (
    end > 1 &&
    !vowel(word, end) &&
    vowel(word, end - 1) &&
    !vowel(word, end - 2) &&
    !'wxy'.includes(word[end] ?? '')
  )
}

const plural = (word: string): string => {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  if (word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1)
  return word
}

const pastAndProgressive = (word: string): string => {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const suffix = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const base = word.slice(0, word.length - suffix)
  if (suffix === 0 || !hasVowel(base)) return word
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`
  if (doubled(base) && !/[lsz]$/.test(base)) return base.slice(0, -1)
  return measure(base) === 1 && short(base) ? `${base}e` : base
}

const finalY = (word: string): string =>
  word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word

type Endings = readonly (readonly [suffix: string, replacement: string])[]

/** Replaces the first ending of the table that fits, if enough of a word stands before it. */
const replacing = (endings: Endings, least: number) => (word: string) => {
  const ending = endings.find(([suffix]) => word.endsWith(suffix))
  if (!ending) return word
  const base = word.slice(0, word.length - ending[0].length)
  if (ending[0] === 'ion' && !/[st]$/.test(base)) return word
  return measure(base) > least ? base + ending[1] : word
}

const doubleEndings: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]

const adjectiveEndings: Endings = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

const lastEndings: Endings = [
  ...['ement', 'ance', 'ence', 'able', 'ible', 'ment', 'ant', 'ent', 'ism', 'ate', 'iti', 'ous'],
  ...['ive', 'ize', 'ion', 'al', 'er', 'ic', 'ou'],
].map((suffix) => [suffix, ''])

const finalE = (word: string): string => {
  if (!word.endsWith('e')) return word
  const base = word.slice(0, -1)
  const syllables = measure(base)
  return syllables > 1 || (syllables === 1 && !short(base)) ? base : word
}

const doubleL = (word: string): string =>
  word.endsWith('ll') && measure(word) > 1 ? word.slice(0, -1) : word

const steps = [
  plural,
  pastAndProgressive,
  finalY,
  replacing(doubleEndings, 0),
  replacing(adjectiveEndings, 0),
  replacing(lastEndings, 1),
  finalE,
  doubleL,
]
