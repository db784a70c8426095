import { join } from 'node:path'
import { fileAudit } from '#mcp/audit-file.ts'
import { type CallSettings, createCalls } from '#mcp/calls.ts'
import { auditFile } from '#services/cove/audit/contract.ts'
import { toolFinder } from '#services/toolboxes.ts'
import type { Backend } from './backend.ts'

/** The tools, each loaded with its service when it is first called. */
export const openCalls = (
  backend: Backend,
  home: string,
  serviceOf: (tool: string) => string | undefined,
  settings: Pick<CallSettings, 'confirm' | 'answerLimit'>,
) =>
  createCalls(toolFinder(serviceOf), {
    ...settings,
    ...backend,
    audit: fileAudit(join(home, auditFile)),
    now: Date.now,
  })
