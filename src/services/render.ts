import { listed } from '#mcp/describe.ts'
import { catalogue } from './catalogue.ts'

/** The catalogue as the build keeps it, so that listing tools loads none of them. */
export const render = (): string =>
  JSON.stringify(Object.entries(catalogue).flatMap(([service, tools]) => listed(service, tools)))
