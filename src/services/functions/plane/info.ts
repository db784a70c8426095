import { actionLimits } from '../actions/contract.ts'
import type { Ground } from './ground.ts'

const megabyte = 1024 * 1024

/** What `GET /api/v1` tells to anyone: the kinds that can run here, and the limits. */
export const describePlane = async ({ invoker, settings }: Ground): Promise<object> => {
  const kinds = await invoker.kinds()
  const runtimes: Record<string, object[]> = {}
  for (const { kind, aliases, version, default: standard } of kinds) {
    const family = kind.split(':')[0] ?? kind
    const row = { kind, version, default: standard, deprecated: false, attached: true }
    const others = aliases.map((alias) => ({ ...row, kind: alias, default: false }))
    runtimes[family] = [...(runtimes[family] ?? []), row, ...others]
  }
  return {
    description: 'Cove functions: an OpenWhisk-compatible API',
    api_paths: ['/api/v1'],
    limits: {
      concurrent_actions: settings.queue,
      sequence_length: settings.sequence,
      min_action_duration: actionLimits.timeout.min,
      default_action_duration: actionLimits.timeout.standard,
      max_action_duration: actionLimits.timeout.max,
      min_action_memory: actionLimits.memory.min * megabyte,
      default_action_memory: actionLimits.memory.standard * megabyte,
      max_action_memory: actionLimits.memory.max * megabyte,
      min_action_logs: actionLimits.logs.min * megabyte,
      default_action_logs: actionLimits.logs.standard * megabyte,
      max_action_logs: actionLimits.logs.max * megabyte,
      max_action_code: settings.code,
      max_payload: settings.payload,
    },
    runtimes,
  }
}
