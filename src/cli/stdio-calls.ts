import { join } from 'node:path'
import { fileAudit } from '#mcp/audit-file.ts'
import { type CallSettings, createCalls } from '#mcp/calls.ts'
import { auditFile } from '#services/cove/audit/contract.ts'
import { toolFinder } from '#services/toolboxes.ts'
import { type BackendRequest, openBackend } from './backend.ts'

/** The tools, each loaded with its service when it is first called, ready to run against the cloud that was asked for. */
export const openCalls = async (
  request: BackendRequest,
  serviceOf: (tool: string) => string | undefined,
  settings: Pick<CallSettings, 'confirm' | 'answerLimit'>,
) => {
  const backend = await openBackend(request)
  return {
    token: backend.token,
    call: createCalls(toolFinder(serviceOf), {
      ...settings,
      ...backend,
      audit: fileAudit(join(request.home, auditFile)),
      now: Date.now,
    }),
  }
}
