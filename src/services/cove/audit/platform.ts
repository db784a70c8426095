import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Service } from '#platform/service.ts'
import { type AuditEntry, audit } from './contract.ts'

export const auditService: Service = (on, kernel) => {
  on(audit.list, async ({ query }) => {
    const folder = kernel.folder('audit')
    const texts = await Promise.all(
      ['calls.1.jsonl', 'calls.jsonl'].map((name) => lines(join(folder, name))),
    )
    const calls = texts
      .flat()
      .map((line): AuditEntry => JSON.parse(line))
      .filter((call) => query.tool === undefined || call.tool === query.tool)
    return { calls: calls.slice(-query.limit) }
  })
}

const lines = async (path: string): Promise<string[]> => {
  try {
    // A process that died while writing may leave its last line unfinished.
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line.endsWith('}'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
