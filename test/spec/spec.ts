import { accounts } from './accounts.ts'
import { databases } from './databases.ts'
import { functions } from './functions.ts'
import { evaluation, routers } from './genai.ts'
import { networking } from './networking.ts'
import type { Arguments } from './words.ts'

/** Every tool of the specification, by service. */
export const spec: Record<string, Record<string, Arguments>> = {
  accounts,
  databases,
  functions,
  networking,
  'genai-inferencerouter': routers,
  'genai-evaluation': evaluation,
}
