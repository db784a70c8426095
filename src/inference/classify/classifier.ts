import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Policy } from '#services/genai/routers/contract.ts'
import { isTaskSlug, taskSlugs, tasks } from '#services/genai/routers/tasks.ts'
import { examples } from './examples/index.ts'
import { none } from './examples/none.ts'
import { type Example, type LinearModel, train } from './linear.ts'
import { type Described, likenessTo, type Terms, termsOf } from './similarity.ts'

export interface Match {
  /** Which policy fits. */
  readonly index: number
  readonly task: string
  /** From 0 to 1. */
  readonly confidence: number
}

export interface Classifier {
  /** The policy whose task a text is of; undefined when none fits well enough. */
  match(text: string, policies: readonly Policy[]): Promise<Match | undefined>
  /** The built-in tasks by probability, the likeliest first. */
  rank(text: string): Promise<{ task: string; confidence: number }[]>
  /** Learn now rather than at the first request. */
  warm(): Promise<void>
}

/** Least confidence for a built-in task, and for one that is only described. */
const sureOfBuiltIn = 0.2
const sureOfDescribed = 0.4

/** Decides by itself and on this machine which task a prompt is of. */
export const createClassifier = (): Classifier => {
  let learned: Promise<LinearModel> | undefined
  const model = () => {
    learned ??= train(labelled(), taskSlugs.length + 1, () => nextTurn())
    return learned
  }

  const described = new WeakMap<Described, (text: Terms) => number>()
  const likeness = (task: Described) => {
    const known = described.get(task) ?? likenessTo(task)
    described.set(task, known)
    return known
  }

  return {
    match: async (text, policies) => {
      const builtIn = policies.some(({ task_slug }) => task_slug !== undefined)
      const chances = builtIn ? chancesOf(await model(), text) : undefined
      const terms = policies.some(({ custom_task }) => custom_task) ? termsOf(text) : undefined
      let best: Match | undefined
      for (const [index, { task_slug, custom_task }] of policies.entries()) {
        const confidence =
          custom_task && terms ? likeness(custom_task)(terms) : chanceOf(task_slug, chances)
        const least = custom_task ? sureOfDescribed : sureOfBuiltIn
        if (confidence < least || confidence <= (best?.confidence ?? 0)) continue
        best = { index, task: custom_task?.name ?? task_slug ?? '', confidence }
      }
      return best
    },
    rank: async (text) => {
      const chances = chancesOf(await model(), text)
      return taskSlugs
        .map((task, label) => ({ task, confidence: chances[label] ?? 0 }))
        .sort((a, b) => b.confidence - a.confidence)
    },
    warm: async () => void (await model()),
  }
}

/** Texts longer than this are also judged by their two ends alone. */
const long = 600
const end = 200

/** A wish stands out at one end of a long text, and what was pasted must not drown it. */
const chancesOf = (model: LinearModel, text: string): Float64Array => {
  if (text.length <= long) return model.probabilities(text)
  const views = [
    { chances: model.probabilities(text.slice(0, end)), weight: 1 },
    { chances: model.probabilities(text.slice(-end)), weight: 0.9 },
    { chances: model.probabilities(text), weight: 0.5 },
  ]
  const most = new Float64Array(taskSlugs.length + 1)
  for (const { chances, weight } of views) {
    for (const [label, chance] of chances.entries())
      most[label] = Math.max(most[label] ?? 0, weight * chance)
  }
  const total = most.reduce((a, b) => a + b, 0)
  return most.map((chance) => chance / total)
}

const chanceOf = (slug: string | undefined, chances: Float64Array | undefined): number =>
  slug !== undefined && isTaskSlug(slug) ? (chances?.[taskSlugs.indexOf(slug)] ?? 0) : 0

/** Every task's name, description and example prompts; the last label is for what is no task. */
const labelled = (): Example[] => [
  ...taskSlugs.flatMap((slug, label) =>
    [tasks[slug].name, tasks[slug].description, ...examples[slug]].map((text) => ({ text, label })),
  ),
  ...none.map((text) => ({ text, label: taskSlugs.length })),
]
