import { statusCodes } from '#engines/sandbox/invoker.ts'
import { storedInvocations } from '../activations/records.ts'
import { lost, stopped } from './activation.ts'
import type { Ground } from './ground.ts'
import type { Recorder } from './recorder.ts'
import type { Runners } from './runners.ts'

/** Give a record to every accepted call whose process is gone. Nothing is run a second time. */
export const recoverLost = async (
  { store, clock }: Ground,
  recorder: Recorder,
  runners: Runners,
): Promise<number> => {
  let count = 0
  const alive = new Map<string, boolean>()
  for (const invocation of await store.collection(storedInvocations).list()) {
    const { runner, accepted, activationId, namespace, path, name, version } = invocation
    if (!alive.has(runner)) alive.set(runner, await runners.isAlive(runner))
    if (alive.get(runner)) continue
    const { status, result, size } = lost(stopped, clock.now())
    const record = {
      activationId,
      namespace,
      path,
      name,
      version,
      start: accepted,
      end: clock.now(),
      duration: clock.now() - accepted,
      statusCode: statusCodes[status],
      response: { status, success: false, result, size },
      logs: [],
      annotations: [
        { key: 'path', value: path },
        { key: 'failure', value: 'platform' },
      ],
    }
    await recorder.record(record, true)
    count++
  }
  return count
}
