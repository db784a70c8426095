import type { ModelRecord } from '../models/contract.ts'
import type { Task } from './tasks.ts'

/** Words in model names that tell what the model was made for. */
const madeFor: Record<string, RegExp> = {
  code: /cod(er|e|estral)|starcoder|devstral/i,
}

const price = (model: ModelRecord): number =>
  model.price_in === null && model.price_out === null
    ? Number.POSITIVE_INFINITY
    : (model.price_in ?? 0) + (model.price_out ?? 0)

/** Known chat models that suit a task: those made for it first, then the cheaper ones. */
export const suggestedModels = (task: Task, known: readonly ModelRecord[], most = 3): string[] => {
  const wanted = task.tags.flatMap((tag) => madeFor[tag] ?? [])
  const rank = ({ id }: ModelRecord) => (wanted.some((word) => word.test(id)) ? 0 : 1)
  const roomy = ({ context_window }: ModelRecord) =>
    context_window === null || context_window >= (task.context ?? 0)
  const order = [...known]
    .filter((model) => model.kind === 'chat' && roomy(model))
    .sort((a, b) => rank(a) - rank(b) || compare(price(a), price(b)))
  return [...new Set(order.map(({ id }) => id))].slice(0, most)
}

/** Two unknown prices are equal, though their difference is not a number. */
const compare = (a: number, b: number): number => (a === b ? 0 : a - b)
