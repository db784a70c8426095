import { ApiError, messageOf } from '#core/error.ts'
import type { ExecOutcome } from '#engines/sandbox/invoker.ts'
import type { StoredActivation } from '../activations/records.ts'
import type { StoredNamespace } from '../namespaces/records.ts'
import type { Actions } from './actions.ts'
import { activationOf, type CallFacts, lost, stopped } from './activation.ts'
import { hashCode } from './exec.ts'
import type { Ground } from './ground.ts'
import { type ActionPath, parseActionPath, shortPath } from './names.ts'
import { annotation, isTrue, splitParameters } from './parameters.ts'
import type { Recorder } from './recorder.ts'
import type { Resolve, Resolved } from './resolve.ts'
import type { Runners } from './runners.ts'

export interface InvokeRequest {
  caller: StoredNamespace
  path: ActionPath
  payload: Record<string, unknown>
  transactionId: string
  /** Chosen by who asks, where asking twice must not run twice. */
  activationId?: string
}

/** A call that has no record yet. */
interface Pending {
  activationId: string
  statusCode?: undefined
}

export interface InvokerFace {
  /** Run and wait at most so many ms; an id alone means that it is still running. */
  call(request: InvokeRequest, wait: number): Promise<StoredActivation | Pending>
  /** Accept, and run in the background. False: this id was accepted before. */
  submit(request: InvokeRequest): Promise<Pending & { fresh: boolean }>
  /** Wait for the calls that run here, but no longer than this; then `end` is to end them. */
  stop(patience: number, end: () => Promise<void>): Promise<void>
}

export interface InvokeParts {
  ground: Ground
  actions: Actions
  resolve: Resolve
  recorder: Recorder
  runners: Runners
}

export const createInvoke = ({
  ground,
  actions,
  resolve,
  recorder,
  runners,
}: InvokeParts): InvokerFace => {
  const { clock, ids, invoker, settings, log } = ground
  const running = new Set<Promise<unknown>>()
  let stopping = false

  const newId = () => ids.uuid().replaceAll('-', '')

  const execute = async (
    { activationId, namespace, resolved }: CallFacts,
    { caller, transactionId }: InvokeRequest,
    payload: Record<string, unknown>,
  ): Promise<ExecOutcome> => {
    const { action, parameters } = resolved
    const { params, env } = splitParameters(parameters)
    return invoker.execute({
      activationId,
      transactionId,
      apiHost: ground.url(),
      ...(isTrue(annotation(action.annotations, 'provide-api-key'))
        ? { apiKey: `${caller.uuid}:${caller.key}` }
        : {}),
      params: { ...params, ...payload },
      action: {
        namespace,
        owner: action.namespace,
        name: shortPath(action),
        version: action.version,
        revision: `${action.updated}${Object.keys(env).length > 0 ? hashCode(JSON.stringify(env)) : ''}`,
        kind: action.exec.kind,
        main: action.exec.main || 'main',
        binary: action.exec.binary,
        ...(action.exec.image ? { image: action.exec.image } : {}),
        codeHash: action.code ?? '',
        code: () => actions.codeOf(action),
        limits: action.limits,
        env,
      },
    })
  }

  /** Run to the end; what the author should read becomes the record, what the caller should, is thrown. */
  const run = async (
    facts: CallFacts,
    request: InvokeRequest,
    payload: Record<string, unknown>,
  ): Promise<StoredActivation> => {
    if (facts.resolved.action.exec.kind === 'sequence') return runSequence(facts, request, payload)
    try {
      const outcome = await execute(facts, request, payload)
      // A sandbox that was ended for the stop of Cove is no fault of its author.
      const ours = stopping && outcome.failure === 'exit'
      return activationOf(facts, ours ? lost(stopped, clock.now(), outcome.start) : outcome)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error
      const outcome = lost(error.message, clock.now())
      return activationOf(facts, { ...outcome, status: 'action developer error', failure: 'init' })
    }
  }

  const runSequence = async (
    facts: CallFacts,
    request: InvokeRequest,
    given: Record<string, unknown>,
  ): Promise<StoredActivation> => {
    const { action, parameters } = facts.resolved
    const start = clock.now()
    const ran: StoredActivation[] = []
    let payload = { ...splitParameters(parameters).params, ...given }
    let memory = 0
    for (const component of action.exec.components ?? []) {
      const path = parseActionPath(component, action.namespace)
      const resolved = await resolve(facts.namespace, path)
      memory = Math.max(memory, resolved.action.limits.memory)
      const part = { ...facts, activationId: newId(), resolved, cause: facts.activationId }
      const done = await run(part, request, payload).catch((error: unknown) =>
        activationOf(part, lost(messageOf(error), clock.now())),
      )
      ran.push(done)
      keep(done)
      if (!done.response.success) break
      const { result } = done.response
      payload = Array.isArray(result) ? { value: result } : (result as Record<string, unknown>)
    }
    const last = ran.at(-1)
    const duration = ran.reduce((sum, each) => sum + each.duration, 0)
    const outcome: ExecOutcome = last
      ? {
          status: last.response.status as ExecOutcome['status'],
          result: last.response.result,
          size: last.response.size,
          logs: ran.map(({ activationId }) => activationId),
          start,
          end: start + duration,
          waitTime: 0,
        }
      : lost('The sequence has no components.', start)
    return activationOf(
      {
        ...facts,
        resolved: {
          ...facts.resolved,
          action: { ...action, limits: { ...action.limits, memory } },
        },
      },
      outcome,
      facts.cause ? [] : [{ key: 'topmost', value: true }],
    )
  }

  const keep = (activation: StoredActivation, accepted = false) => {
    const kept = recorder.record(activation, accepted).catch((error: unknown) =>
      log.error('An activation could not be recorded.', {
        activation: activation.activationId,
        cause: messageOf(error),
      }),
    )
    track(kept)
  }
  /** An accepted call gets a record whatever comes of it. */
  const finish = (facts: CallFacts, done: Promise<StoredActivation>) => {
    const accepted = clock.now()
    track(
      done
        .catch((error: unknown) =>
          activationOf(facts, lost(messageOf(error), clock.now(), accepted)),
        )
        .then((activation) => keep(activation, true)),
    )
  }
  const track = (work: Promise<unknown>) => {
    running.add(work)
    work.finally(() => running.delete(work)).catch(() => undefined)
  }

  const prepared = async (request: InvokeRequest): Promise<CallFacts> => {
    const resolved = await resolve(request.caller.namespace, request.path)
    refuseFinal(resolved, request.payload)
    const { queued } = invoker.stats()
    if (queued >= settings.queue)
      throw ApiError.tooMany(
        `Too many requests: all sandboxes are busy and ${queued} calls wait already.`,
        1,
      )
    return {
      activationId: request.activationId ?? newId(),
      namespace: request.caller.namespace,
      resolved,
    }
  }

  const accept = ({ activationId, namespace, resolved }: CallFacts) =>
    recorder.accept({
      activationId,
      namespace,
      path: `${namespace}/${shortPath(resolved.action)}`,
      name: resolved.action.name,
      version: resolved.action.version,
      accepted: clock.now(),
      runner: runners.own,
    })

  return {
    call: async (request, wait) => {
      const facts = await prepared(request)
      const done = run(facts, request, request.payload)
      const first = await withinTime(done, wait)
      if (first) {
        keep(first)
        return first
      }
      // From here on it is a call that was accepted, and so must end in a record.
      await accept(facts)
      finish(facts, done)
      return { activationId: facts.activationId }
    },

    submit: async (request) => {
      const facts = await prepared(request)
      try {
        await accept(facts)
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409) throw error
        return { activationId: facts.activationId, fresh: false }
      }
      finish(facts, run(facts, request, request.payload))
      return { activationId: facts.activationId, fresh: true }
    },

    stop: async (patience, end) => {
      const settled = async () => {
        while (running.size > 0) await Promise.allSettled([...running])
      }
      await withinTime(settled(), patience)
      stopping = true
      await end()
      await settled()
      await recorder.flush()
    },
  }
}

/** Parameters of a final action are not for callers to change. */
const refuseFinal = ({ action, parameters }: Resolved, payload: Record<string, unknown>) => {
  if (!isTrue(annotation(action.annotations, 'final'))) return
  if (parameters.some(({ key }) => key in payload))
    throw ApiError.badRequest(
      'Request defines parameters that are not allowed (e.g., reserved properties).',
    )
}

const withinTime = <T>(work: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
