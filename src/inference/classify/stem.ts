/** Endings that change a word's form and hardly its meaning. */
const endings =
  /(isation|ization|ising|izing|ised|ized|ise|ize|ations?|ing|ies|ied|ers?|ed|es|ly|s|e)$/

export const stemOf = (word: string): string =>
  word.length > 4
    ? word.replace(endings, (ending) => (word.length - ending.length >= 3 ? '' : ending))
    : word
