import { notionsOf } from './concepts.ts'
import { wordsOf } from './features.ts'
import { stemOf } from './stem.ts'

/** Words so common that sharing them means nothing. */
const common = new Set(
  'a an and any are as at be been but by can could do does for from get give had has have he her him his how i if in into is it its just let like make me more my no not of on one or our out please she should so some that the their them then there these they this those to up us use want wants was we were what when where which who why will with would write you your about asks ask asking questions question task tasks help need needs'
    .split(' ')
    .map(stemOf),
)

/** The telling words of a text, and the notions they stand for. */
export interface Terms {
  readonly stems: ReadonlySet<string>
  readonly notions: ReadonlySet<string>
}

/** Strength of shared stems at which a text is almost certainly of the task. */
const plenty = 1.2
const stemStrength = 1
const nameStrength = 1.5
const notionStrength = 0.2

export const termsOf = (text: string): Terms => {
  const stems = wordsOf(text)
    .map(stemOf)
    .filter((stem) => stem.length > 1 && !common.has(stem))
  return {
    stems: new Set(stems),
    notions: new Set(stems.flatMap((stem) => notionsOf.get(stem) ?? [])),
  }
}

export interface Described {
  readonly name: string
  readonly description: string
}

/**
 * How sure one may be, from 0 to 1, that a text is of a task that is only described: by the telling
 * words they share, those of the task's name above all, and a little by notions they share.
 */
export const likenessTo = (task: Described): ((text: Terms) => number) => {
  const called = task.name.replace(/[-_]/g, ' ')
  const name = termsOf(called)
  const all = termsOf(`${called} ${task.description}`)
  return ({ stems, notions }) => {
    let strength = 0
    for (const stem of all.stems) {
      if (stems.has(stem)) strength += name.stems.has(stem) ? nameStrength : stemStrength
    }
    for (const notion of all.notions) if (notions.has(notion)) strength += notionStrength
    return 1 - Math.exp(-strength / (plenty + 0.05 * all.stems.size))
  }
}
