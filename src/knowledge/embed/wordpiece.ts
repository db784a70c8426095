/** The tokenizer of BERT models: lower case without accents, words split into known pieces. */
export interface Tokenizer {
  /** Ids with the opening and closing marks, cut to `limit` ids in all. */
  encode(text: string, limit: number): number[]
  /** Pieces in a text, without the marks. */
  count(text: string): number
}

/** Longer words are unknown to the model as a whole. */
const longestWord = 100

export const wordPiece = (vocabulary: Readonly<Record<string, number>>): Tokenizer => {
  const ids = new Map(Object.entries(vocabulary))
  const special = (name: string): number => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`The vocabulary lacks ${name}.`)
    return id
  }
  const unknown = special('[UNK]')
  const opening = special('[CLS]')
  const closing = special('[SEP]')

  const pieces = (word: string): number[] => {
    const whole = ids.get(word)
    if (whole !== undefined) return [whole]
    if (word.length > longestWord && [...word].length > longestWord) return [unknown]
    const found: number[] = []
    let start = 0
    while (start < word.length) {
      let end = word.length
      let id: number | undefined
      for (; end > start; end--) {
        id = ids.get(start ? `##${word.slice(start, end)}` : word.slice(0, end))
        if (id !== undefined) break
      }
      if (id === undefined) return [unknown]
      found.push(id)
      start = end
    }
    return found
  }

  return {
    encode: (text, limit) => {
      const encoded = [opening]
      for (const [word] of words(text)) {
        for (const id of pieces(word)) {
          if (encoded.length === limit - 1) return [...encoded, closing]
          encoded.push(id)
        }
      }
      return [...encoded, closing]
    },
    count: (text) => {
      let total = 0
      for (const [word] of words(text)) total += pieces(word).length
      return total
    },
  }
}

/** Runs of letters and digits; each mark of punctuation and each Chinese character stands alone. */
const words = (text: string) => normalised(text).matchAll(wordPattern)

const cjk =
  '\\u{4e00}-\\u{9fff}\\u{3400}-\\u{4dbf}\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2ceaf}\\u{f900}-\\u{faff}\\u{2f800}-\\u{2fa1f}'
const punctuation = '!-\\/:-@\\[-`\\{-~\\p{P}'
const wordPattern = new RegExp(`[${cjk}${punctuation}]|[^\\s${cjk}${punctuation}]+`, 'gu')

const normalised = (text: string): string =>
  text
    .replace(/[^\P{C}\t\n\r]|\ufffd/gu, '')
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
