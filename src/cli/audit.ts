import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditEntry, audit as operations } from '#services/cove/audit/contract.ts'
import { apiOf, openBackend } from './backend.ts'
import { command } from './command.ts'
import { json } from './table.ts'

export const audit = command({
  about: 'Show the record of tool calls: who called what, with what outcome.',
  usage: '',
  settings: ['follow', 'limit', 'json', 'token'],
  examples: ['cove audit', 'cove audit --follow', 'cove audit --limit 500 --json'],
  run: async ({ values, home }, { env, out }) => {
    const local = { 'api-url': undefined, 'api-token': undefined, token: values.token }
    const api = apiOf(await openBackend({ values: local, home, env }))
    const newest = async () =>
      (await api(operations.list, { query: { limit: values.limit } })).calls
    let calls = await newest()
    const show = (entries: readonly AuditEntry[]) => {
      if (values.json && !values.follow) out(json(entries))
      else
        for (const entry of entries) out(values.json ? `${JSON.stringify(entry)}\n` : line(entry))
    }
    show(calls)
    while (values.follow) {
      await sleep(1000)
      const last = calls.at(-1)?.time ?? ''
      calls = await newest()
      show(calls.filter((call) => call.time > last))
    }
    return 0
  },
})

const line = (entry: AuditEntry): string =>
  `${entry.time}  ${entry.who}  ${entry.tool} ${JSON.stringify(entry.arguments)}  ${entry.outcome}  ${Math.round(entry.duration_ms)} ms${
    entry.message ? `  ${entry.message.split('\n')[0]}` : ''
  }\n`
