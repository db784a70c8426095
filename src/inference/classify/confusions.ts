import { taskSlugs } from '#services/genai/routers/tasks.ts'
import type { Classifier } from './classifier.ts'
import { heldOut } from './held-out/index.ts'

export interface Confusions {
  right: number
  all: number
  /** What each task was taken for: task → guess → how often. */
  table: Record<string, Record<string, number>>
}

/** How the classifier does on the prompts that it has not seen. */
export const confusions = async (classifier: Classifier): Promise<Confusions> => {
  const table: Confusions['table'] = {}
  let right = 0
  let all = 0
  for (const slug of taskSlugs) {
    const row: Record<string, number> = {}
    table[slug] = row
    for (const prompt of heldOut[slug]) {
      const guess = (await classifier.rank(prompt))[0]?.task ?? ''
      row[guess] = (row[guess] ?? 0) + 1
      if (guess === slug) right++
      all++
    }
  }
  return { right, all, table }
}

/** One line for each task, as the documentation shows it. */
export const confusionRows = ({ table }: Confusions): string[] =>
  Object.entries(table).map(([task, guesses]) => {
    const all = Object.values(guesses).reduce((sum, count) => sum + count, 0)
    const wrong = Object.entries(guesses)
      .filter(([guess]) => guess !== task)
      .map(([guess, count]) => `${count} × \`${guess}\``)
    return `| \`${task}\` | ${guesses[task] ?? 0} of ${all} | ${wrong.join(', ') || '-'} |`
  })
