/** Without the prefix that agent and model runs put before them. */
export const runStatuses = [
  'QUEUED',
  'RUNNING_DATASET',
  'EVALUATING_RESULTS',
  'CANCELLING',
  'CANCELLED',
  'SUCCESSFUL',
  'PARTIALLY_SUCCESSFUL',
  'FAILED',
] as const

export const finalStatuses: readonly string[] = [
  'CANCELLED',
  'SUCCESSFUL',
  'PARTIALLY_SUCCESSFUL',
  'FAILED',
]

export const isFinal = (status: string): boolean => finalStatuses.includes(status)

/** How far a status is on the way; also for values that only some clouds use. */
export const phaseOrder = (status: string): number => {
  if (isFinal(status)) return 3
  const known: Record<string, number> = { RUNNING: 1, RUNNING_DATASET: 1, EVALUATING_RESULTS: 2 }
  return known[status] ?? 0
}
