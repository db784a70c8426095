import { ApiError } from '#core/error.ts'
import type { Unanswered } from './dispatch.ts'
import type { FailureKind } from './upstream/failure.ts'

/** The status and code that say what kind of trouble it was, when all of it was of one kind. */
const statuses: Partial<Record<FailureKind, { status: number; code: string }>> = {
  rate_limit: { status: 429, code: 'rate_limit_exceeded' },
  quota: { status: 429, code: 'insufficient_quota' },
  timeout: { status: 504, code: 'timeout' },
  context_length: { status: 400, code: 'context_length_exceeded' },
  bad_request: { status: 400, code: 'bad_request' },
}

/** What the caller is told when no model answered: every model that was asked, and how it failed. */
export const refusalOf = (unanswered: Unanswered): ApiError => {
  const { attempts, skipped } = unanswered
  const kinds = new Set(attempts.map(({ failure }) => failure?.kind))
  const [only] = kinds
  const single = kinds.size === 1 && only ? statuses[only] : undefined
  const wait = [
    ...attempts.flatMap(({ failure }) => failure?.retryAfter ?? []),
    ...skipped.map(({ after }) => after),
  ]
  const detail = {
    id: single?.code ?? (attempts.length === 0 ? 'models_unavailable' : 'upstream_failed'),
    ...(wait.length > 0 ? { retryAfter: Math.min(...wait) / 1000 } : {}),
    cause: unanswered,
  }
  const status = single?.status ?? (attempts.length === 0 ? 503 : 502)
  return new ApiError(status, `No model could answer: ${unanswered.message}.`, detail)
}
