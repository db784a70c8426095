import { join } from 'node:path'
import { fileAudit } from '#mcp/audit-file.ts'
import { type CallSettings, createCalls } from '#mcp/calls.ts'
import { allTools } from '#services/catalogue.ts'
import { auditFile } from '#services/cove/audit/contract.ts'
import { type BackendRequest, openBackend } from './backend.ts'

/** The tools, ready to run against the cloud that was asked for. */
export const openCalls = async (
  request: BackendRequest,
  settings: Pick<CallSettings, 'confirm' | 'answerLimit'>,
) => {
  const backend = await openBackend(request)
  return {
    token: backend.token,
    call: createCalls(allTools, {
      ...settings,
      ...backend,
      audit: fileAudit(join(request.home, auditFile)),
      now: Date.now,
    }),
  }
}
