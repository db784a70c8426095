import type { TaskSlug } from '#services/genai/routers/tasks.ts'
import { documents } from './documents.ts'
import { general } from './general.ts'
import { software } from './software.ts'
import { writing } from './writing.ts'

export const heldOut: Record<TaskSlug, readonly string[]> = {
  ...general,
  ...writing,
  ...software,
  ...documents,
}
