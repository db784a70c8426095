import { ApiError, messageOf } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { parseActionPath } from '../plane/names.ts'
import type { Plane } from '../plane/plane.ts'
import { type Trigger, triggers } from './contract.ts'
import { checkCron, nextTick } from './cron.ts'
import { type StoredTrigger, storedTriggers, triggerId } from './records.ts'
import { idFor } from './tick.ts'

/**
 * Schedules. A tick that passed while nothing ran is made up for once, however many passed; then
 * the schedule goes on from now. The tick makes the id of the call, so it happens once, whoever fires.
 */
export const triggerService =
  (plane: Plane): Service =>
  (on, kernel) => {
    const { store, clock, log } = kernel
    const table = store.collection(storedTriggers)

    const view = ({ id: _id, last_run_at, next, ...trigger }: StoredTrigger): Trigger => ({
      ...trigger,
      scheduled_runs: {
        last_run_at,
        next_run_at: next === null ? null : new Date(next).toISOString(),
      },
    })
    const find = async (path: { namespace_id: string; trigger_name: string }) => {
      const { namespace } = await plane.namespace(path.namespace_id)
      const found = await table.get(triggerId(namespace, path.trigger_name))
      if (!found) throw ApiError.notFound(`Trigger ${path.trigger_name}`)
      return found
    }

    on(triggers.list, async ({ path }) => {
      const { namespace } = await plane.namespace(path.namespace_id)
      return { triggers: (await table.list({ where: { namespace } })).map(view) }
    })

    on(triggers.get, async ({ path }) => ({ trigger: view(await find(path)) }))

    on(triggers.create, async ({ path, body }) => {
      const own = await plane.namespace(path.namespace_id)
      const { namespace } = own
      if (body.type !== 'SCHEDULED')
        throw ApiError.badRequest(
          `type must be SCHEDULED; ${body.type} triggers are not supported.`,
        )
      const cron = checkCron(body.scheduled_details.cron)
      const limit = plane.ground.settings.triggers
      if ((await table.count({ namespace })) >= limit)
        throw ApiError.invalid(`triggers limit reached: ${limit} in a namespace.`)
      await plane.exists(own, parseActionPath(body.function, namespace)).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.status >= 500) throw error
        throw ApiError.badRequest(`function "${body.function}" does not exist in ${namespace}.`)
      })
      const now = timestamp(clock)
      const made = await table.insert({
        id: triggerId(namespace, body.name),
        namespace,
        name: body.name,
        function: body.function,
        type: 'SCHEDULED',
        is_enabled: body.is_enabled,
        scheduled_details: { cron, body: body.scheduled_details.body ?? null },
        created_at: now,
        updated_at: now,
        last_run_at: null,
        next: body.is_enabled ? (nextTick(cron, clock.now()) ?? null) : null,
      })
      return { trigger: view(made) }
    })

    on(triggers.update, async ({ path, body }) => {
      const { id } = await find(path)
      const details = body.scheduled_details
      const cron = details && checkCron(details.cron)
      const now = clock.now()
      const changed = await table.update(id, (current) => {
        const next = {
          ...current,
          is_enabled: body.is_enabled ?? current.is_enabled,
          scheduled_details: {
            cron: cron ?? current.scheduled_details.cron,
            body: details?.body === undefined ? current.scheduled_details.body : details.body,
          },
          updated_at: timestamp(clock),
        }
        const tick = nextTick(next.scheduled_details.cron, now) ?? null
        return { ...next, next: next.is_enabled ? tick : null }
      })
      return { trigger: view(changed) }
    })

    on(triggers.delete, async ({ path }) => {
      const { id } = await find(path)
      await table.remove(id)
    })

    kernel.reconcile(storedTriggers, async (trigger) => {
      const now = clock.now()
      if (trigger.next === null) return {}
      if (trigger.next > now) return { again: trigger.next - now }
      await fire(trigger, trigger.next)
      const next = nextTick(trigger.scheduled_details.cron, now) ?? null
      return {
        change: (current) => ({ ...current, last_run_at: new Date(now).toISOString(), next }),
        ...(next === null ? {} : { again: next - now }),
      }
    })

    const fire = async (trigger: StoredTrigger, tick: number) => {
      const caller = await plane.namespace(trigger.namespace)
      try {
        await plane.fire({
          caller,
          path: parseActionPath(trigger.function, trigger.namespace),
          payload: trigger.scheduled_details.body ?? {},
          transactionId: idFor('transaction', trigger.id, tick),
          activationId: idFor(trigger.id, trigger.created_at, tick),
        })
      } catch (error) {
        // Busy or out of reach: the same tick is tried again. A missing function is not.
        if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) throw error
        log.warn('A trigger did not fire.', { trigger: trigger.id, cause: messageOf(error) })
      }
    }
  }
