import { join } from 'node:path'
import { fileAudit } from '#mcp/audit-file.ts'
import { createCalls } from '#mcp/calls.ts'
import { describe } from '#mcp/describe.ts'
import { allTools, catalogue } from '#services/catalogue.ts'
import { auditFile } from '#services/cove/audit/contract.ts'
import { openBackend } from './backend.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

export const tools = command({
  about: 'List, describe and call the tools from the shell.',
  usage: 'list | describe NAME | call NAME [JSON]',
  settings: ['services', 'json', 'answer-limit', 'token', 'api-url', 'api-token'],
  examples: [
    'cove tools list --services accounts',
    'cove tools describe key-create',
    `cove tools call key-list '{"PerPage": 5}'`,
  ],
  run: async ({ values, home, positionals }, { env, out, err }) => {
    const [verb = 'list', name, text] = positionals
    if (verb === 'list') {
      const rows = Object.entries(catalogue)
        .filter(([service]) => values.services.length === 0 || values.services.includes(service))
        .flatMap(([service, each]) =>
          Object.entries(each).map(([tool, { about }]) => ({ service, name: tool, about })),
        )
      out(
        values.json
          ? json(rows)
          : table(
              ['service', 'tool', 'what it does'],
              rows.map((row) => [row.service, row.name, row.about]),
            ),
      )
      return 0
    }
    if (verb !== 'describe' && verb !== 'call') {
      throw new UsageError(
        'Say one of: cove tools list, cove tools describe NAME, cove tools call NAME [JSON].',
      )
    }
    const tool = name === undefined ? undefined : allTools[name]
    if (!name || !tool)
      throw new UsageError(`There is no tool "${name ?? ''}". "cove tools list" names them.`)
    if (verb === 'describe') {
      out(json(describe(name, tool)))
      return 0
    }
    const backend = await openBackend({ values, home, env })
    const call = createCalls((each) => allTools[each], {
      ...backend,
      audit: fileAudit(join(home, auditFile)),
      confirm: 'never',
      answerLimit: values['answer-limit'],
      now: Date.now,
    })
    const result = await call(name, argumentsOf(text), {
      token: backend.token,
      who: 'shell',
      signal: new AbortController().signal,
      progress: (done, total, message) =>
        err(`${message ?? ''} ${done}${total === undefined ? '' : `/${total}`}\n`),
    })
    const [answer, ...notes] = result.content.map((part) => part.text)
    const write = result.isError ? err : out
    write(`${answer}\n`)
    for (const note of notes) err(`${note}\n`)
    return result.isError ? 1 : 0
  },
})

const argumentsOf = (text: string | undefined): unknown => {
  if (text === undefined) return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`The arguments must be a JSON object, for example '{"Name": "x"}'.`)
  }
}
