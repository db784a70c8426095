import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Service } from '#platform/service.ts'
import { type AuditEntry, audit } from './contract.ts'

export const auditService: Service = (on, kernel) => {
  on(audit.list, async ({ query }) => {
    const folder = kernel.folder('audit')
    const calls: AuditEntry[] = []
    for (const name of ['calls.jsonl', 'calls.1.jsonl']) {
      for await (const line of linesFromEnd(join(folder, name))) {
        const call: AuditEntry = JSON.parse(line)
        if (query.tool === undefined || call.tool === query.tool) calls.push(call)
        if (calls.length === query.limit) return { calls: calls.reverse() }
      }
    }
    return { calls: calls.reverse() }
  })
}

const blockSize = 64 * 1024

/** The lines of a file, last one first, reading no more of it than is asked for. */
async function* linesFromEnd(path: string): AsyncGenerator<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined // Nothing was called yet.
    throw error
  })
  if (!file) return
  try {
    let end = (await file.stat()).size
    let rest = Buffer.alloc(0)
    while (end > 0) {
      const start = Math.max(0, end - blockSize)
      const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
      const block = Buffer.concat([buffer, rest])
      // The first line of a block may have begun in the block before it.
      const from = start === 0 ? 0 : block.indexOf(10) + 1
      const lines = block.subarray(from).toString('utf8').split('\n').reverse()
      // A process that died while writing may leave its last line unfinished.
      for (const line of lines) if (line.endsWith('}')) yield line
      rest = block.subarray(0, from)
      end = start
    }
  } finally {
    await file.close()
  }
}
