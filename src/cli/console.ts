import { consoleLinks } from '#services/cove/console/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'

export const consoleCommand = command({
  about: 'Print a link that opens the console in a browser, signed in; it works once.',
  usage: '',
  settings: ['token'],
  examples: ['cove console'],
  run: async ({ values, home }, { env, out }) => {
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    const { url } = await api(consoleLinks.create, {})
    out(`${url}\n`)
    return 0
  },
})
