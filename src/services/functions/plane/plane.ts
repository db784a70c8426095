import { storedActions } from '../actions/records.ts'
import { storedActivations } from '../activations/records.ts'
import { storedAccessKeys } from '../keys/records.ts'
import { type StoredNamespace, storedNamespaces } from '../namespaces/records.ts'
import { storedPackages } from '../packages/records.ts'
import { storedTriggers } from '../triggers/records.ts'
import { createAccess } from './access.ts'
import { createActions, dropCode } from './actions.ts'
import { createRemoteBuild } from './build.ts'
import { createFace } from './face.ts'
import { faults } from './faults.ts'
import type { Ground } from './ground.ts'
import { createInvoke, type InvokeRequest } from './invoke.ts'
import { fullPath } from './names.ts'
import { createPackages } from './packages.ts'
import { createRecorder } from './recorder.ts'
import { recoverLost } from './recover.ts'
import { createMemory } from './remember.ts'
import { forward } from './remote.ts'
import { createResolve, type Resolve, type Resolved } from './resolve.ts'
import { beatEvery, createRunners } from './runners.ts'
import { createSequences } from './sequences.ts'
import { createWeb } from './web.ts'

const expireEvery = 600_000
/** ms for which an action that was found is not looked up again. */
const trust = 1_000
/** ms that a stop waits for calls to end by themselves. */
const patience = 5_000

/** Everything that runs and keeps functions, put together. */
export const createPlane = (ground: Ground, folder: () => string) => {
  const { store, clock, log, invoker } = ground
  const access = createAccess(ground)
  const reached = createMemory<Resolved>(clock.now, trust)
  const packages = createPackages(ground, reached.forget)
  const actions = createActions(ground, createSequences(ground), reached.forget)
  const resolve = createResolve(actions, packages)
  const recall: Resolve = (own, path) =>
    reached.get(`${own} ${fullPath(path)}`, () => resolve(own, path))
  const recorder = createRecorder(ground)
  const runners = createRunners(ground)
  const invoke = createInvoke({ ground, actions, resolve: recall, recorder, runners })
  const face = createFace({
    ground,
    access,
    actions,
    packages,
    resolve,
    recorder,
    invoke,
    web: createWeb(ground, resolve, invoke),
    build: createRemoteBuild(ground, folder),
  })
  const recover = () => recoverLost(ground, recorder, runners)
  const namespaces = store.collection(storedNamespaces)
  const stops: (() => void)[] = []

  /** Again and again until stopped; a failure is told and does not end it. */
  const every = (ms: number, what: string, work: () => Promise<unknown>) => {
    let cancel = () => {}
    const turn = () => {
      work()
        .catch((error: Error) => log.error(`${what} failed.`, { cause: error.message }))
        .finally(() => {
          cancel = clock.later(ms, turn)
        })
    }
    cancel = clock.later(ms, turn)
    stops.push(() => cancel())
  }

  return {
    ground,
    access,
    face,

    namespace: async (id: string): Promise<StoredNamespace> => {
      const found = (await namespaces.get(id)) ?? (await namespaces.find({ uuid: id }))
      return found ?? namespaces.require(id)
    },

    /** Run an action without waiting, here or on the namespace's own cluster. */
    fire: async (request: InvokeRequest): Promise<void> => {
      if (!request.caller.remote) {
        await invoke.submit(request)
        return
      }
      const { package: pack, name } = request.path
      const path = pack === '_' ? name : `${pack}/${name}`
      const answer = await forward(
        ground.fetch,
        request.caller,
        new Request(`http://localhost/api/v1/namespaces/_/actions/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(request.payload),
        }),
      )
      if (answer.status === 404) throw faults.missing()
      if (!answer.ok) throw new Error(`the cluster answered ${answer.status}`)
    },

    exists: async (own: StoredNamespace, path: InvokeRequest['path']): Promise<void> => {
      if (!own.remote) await resolve(own.namespace, path)
    },

    removeNamespace: async ({ namespace }: StoredNamespace) => {
      await store.transaction(async (tx) => {
        const own = { where: { namespace } }
        for (const action of await tx.collection(storedActions).list(own)) {
          await tx.collection(storedActions).remove(action.id)
          await dropCode(tx, action.code)
        }
        for (const { id } of await tx.collection(storedPackages).list(own))
          await tx.collection(storedPackages).remove(id)
        for (const { id } of await tx.collection(storedTriggers).list(own))
          await tx.collection(storedTriggers).remove(id)
        for (const { id } of await tx.collection(storedAccessKeys).list(own))
          await tx.collection(storedAccessKeys).remove(id)
        for (const { activationId } of await tx.collection(storedActivations).list(own))
          await tx.collection(storedActivations).remove(activationId)
        await tx.collection(storedNamespaces).remove(namespace)
      })
      access.forget()
      reached.forget()
      invoker.evict(namespace)
    },

    start: async () => {
      await runners.beat()
      const lost = await recover()
      if (lost > 0) log.warn('Calls of an earlier run ended without an answer.', { count: lost })
      every(beatEvery, 'The heartbeat of functions', async () => {
        await runners.beat()
        await recover()
      })
      every(expireEvery, 'Forgetting old activations', recorder.expire)
      if ((await namespaces.count()) > 0) await invoker.start()
    },

    stop: async () => {
      for (const stop of stops) stop()
      await invoke.stop(patience, invoker.close)
    },
  }
}

export type Plane = ReturnType<typeof createPlane>
