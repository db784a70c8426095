import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { type TaskSlug, taskSlugs } from '#services/genai/routers/tasks.ts'
import { type Classifier, createClassifier } from './classifier.ts'
import { confusionRows, confusions } from './confusions.ts'
import { examples } from './examples/index.ts'
import { heldOut } from './held-out/index.ts'

let classifier: Classifier
beforeAll(async () => {
  classifier = createClassifier()
  await classifier.warm()
})

const slugPolicy = (task_slug: TaskSlug) => ({ task_slug, models: ['m'] })
const policies = taskSlugs.map(slugPolicy)

test('every task has ten prompts to learn from and ten to be measured by, none twice', () => {
  const seen = new Set<string>()
  for (const slug of taskSlugs) {
    expect(examples[slug].length).toBeGreaterThanOrEqual(10)
    expect(heldOut[slug].length).toBeGreaterThanOrEqual(10)
    for (const prompt of [...examples[slug], ...heldOut[slug]]) {
      expect(seen.has(prompt.toLowerCase()), prompt).toBe(false)
      seen.add(prompt.toLowerCase())
    }
  }
})

test('of prompts it never saw at least four in five get their task', async () => {
  const found = await confusions(classifier)
  const { right, all } = found
  expect(all).toBe(taskSlugs.length * 12)
  expect(right / all).toBeGreaterThanOrEqual(0.8)
  const page = readFileSync(projectFile('docs/inference-routers.md'), 'utf8')
  expect(page).toContain(`Measured on ${all} prompts`)
  expect(page).toContain(`${right} right,\n${(right / all).toFixed(2)}.`)
  expect(page).toContain(confusionRows(found).join('\n'))
})

test('small talk, facts and sums are of no task', async () => {
  for (const text of ['hey', 'Who was the first emperor of Rome?', 'What is 12 divided by 5?']) {
    expect(await classifier.match(text, policies), text).toBeUndefined()
  }
})

test('a task that no policy names does not fall to another', async () => {
  const few = (['code-generation', 'summarization'] as const).map(slugPolicy)
  const match = async (text: string) => (await classifier.match(text, few))?.task
  expect(await match('Translate this letter into Polish.')).toBeUndefined()
  expect(await match('Write a poem about the sea.')).toBeUndefined()
  expect(await match('Write a Python function that adds two numbers.')).toBe('code-generation')
})

test('a long prompt is judged by what stands at its beginning and at its end', async () => {
  const filler = 'The committee discussed the budget and the weather. '.repeat(2000)
  for (const text of [`Summarize the following minutes. ${filler}`, `${filler} Summarize this.`]) {
    expect((await classifier.match(text, policies))?.task).toBe('summarization')
  }
})

const custom = (name: string, description: string) => ({
  custom_task: { name, description },
  models: ['m'],
})
const described = [
  custom('refund requests', 'A customer wants money back for an order or was charged twice.'),
  custom('legal review', 'Check contracts, clauses, liability and compliance with regulations.'),
  custom('travel-booking', 'Book flights, hotels and trains, change or cancel a reservation.'),
]

test.each([
  ['I was charged twice, I want my money back', 'refund requests'],
  ['Please check this contract for liability clauses that hurt us', 'legal review'],
  ['Find me a hotel near the station and book two flights to Oslo', 'travel-booking'],
  ['Write a haiku about moss', undefined],
])('of tasks that are only described, "%s" is %s', async (text, task) => {
  expect((await classifier.match(text, described))?.task).toBe(task)
})

test('confidence is told, and grows with the evidence', async () => {
  const vague = await classifier.match('cancel my hotel', described)
  const plain = await classifier.match('cancel my hotel reservation and the flights', described)
  expect(vague?.confidence).toBeLessThan(plain?.confidence ?? 0)
  expect(plain?.confidence).toBeLessThanOrEqual(1)
})
