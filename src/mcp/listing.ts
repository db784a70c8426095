import { readFileSync } from 'node:fs'
import { builtFile } from '#core/built.ts'
import type { Listed } from './select.ts'

/** Every tool as the build rendered it; reading it loads no tool. */
export const readListing = (): Listed[] =>
  JSON.parse(readFileSync(builtFile('catalogue.json'), 'utf8'))
