import { ApiError, messageOf } from '#core/error.ts'
import type { Vault } from '#engines/certificates/vault.ts'
import type { LoadBalancerEngine } from '#engines/haproxy/engine.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOf } from '#platform/pages.ts'
import type { Kernel, Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { checkedRules, checkReferences, freeAddress, refuseTagged, without } from './checks.ts'
import { type BalancerSettings, loadBalancers } from './contract.ts'
import type { Inside } from './inside.ts'
import { type BalancerState, balancerRecords, stir } from './records.ts'
import { asBalancer } from './shape.ts'
import { limitsOf, membersOf, NotYet, specOf } from './spec.ts'

export interface BalancerDrivers {
  engine: LoadBalancerEngine
  vault: () => Promise<Vault>
  inside: Inside
}

/** ms after which a balancer that is not in force is tried again */
const retry = 5_000
/** ms after which one that waits for a certificate looks again */
const waiting = 500

export const loadBalancerService =
  ({ engine, vault, inside }: BalancerDrivers): Service =>
  (on, kernel) => {
    const { store, clock, ids, actions } = kernel
    const table = store.collection(balancerRecords)

    const find = async (id: string) => {
      const state = await table.get(id)
      if (!state || state.deleting) throw ApiError.notFound(`Load balancer ${id}`)
      return state
    }

    const shown = async (state: BalancerState) =>
      asBalancer(state, await membersOf(store, state.settings))

    const say = (state: BalancerState, note: (text: string) => void): void => {
      if (state.problem) note(`It is not in force: ${state.problem}`)
      for (const limit of limitsOf(state.settings)) note(limit)
    }

    /** Change the settings of a balancer; what they refer to must be there. */
    const change = (id: string, next: (settings: BalancerSettings) => BalancerSettings) =>
      store.transaction(async (tx) => {
        const current = await tx.collection(balancerRecords).get(id)
        if (!current || current.deleting) throw ApiError.notFound(`Load balancer ${id}`)
        const settings = next(current.settings)
        const state = { ...current, name: settings.name, settings, tag: settings.tag ?? '' }
        await checkReferences(tx, state)
        return tx.collection(balancerRecords).put(state)
      })

    on(loadBalancers.list, async ({ query }) => {
      const page = await pageOf('load_balancers', table, query, { where: { deleting: false } })
      return { ...page, load_balancers: await Promise.all(page.load_balancers.map(shown)) }
    })

    on(loadBalancers.get, async ({ path, note }) => {
      const state = await find(path.id)
      say(state, note)
      const down = (await engine.health(state.id)).filter(({ up }) => !up)
      for (const { target, port } of down) {
        note(`Instance ${target} fails its health check for port ${port}.`)
      }
      return { load_balancer: await shown(state) }
    })

    on(loadBalancers.create, async ({ body, note }) => {
      const state = await store.transaction(async (tx) => {
        const made: BalancerState = {
          id: ids.uuid(),
          name: body.name,
          created_at: timestamp(clock),
          status: 'new',
          address: await freeAddress(tx),
          settings: body,
          tag: body.tag ?? '',
          deleting: false,
          stirred: 0,
        }
        await checkReferences(tx, made)
        await actions.record({ ...subject('create', made), region_slug: body.region ?? null }, tx)
        return tx.collection(balancerRecords).insert(made)
      })
      say(state, note)
      return { load_balancer: await shown(state) }
    })

    on(loadBalancers.update, async ({ path, body, note }) => {
      const state = await change(path.id, (settings) => {
        const fixed = { region: settings.region, type: settings.type } as const
        for (const field of ['region', 'network', 'network_stack', 'type'] as const) {
          if (body[field] === undefined || body[field] === settings[field]) continue
          throw ApiError.invalid(`${field} cannot be changed: it is ${settings[field] ?? 'none'}.`)
        }
        return { ...body, ...fixed }
      })
      say(state, note)
      return { load_balancer: await shown(state) }
    })

    on(loadBalancers.delete, async ({ path }) => {
      const { id, settings } = await find(path.id)
      await store.transaction(async (tx) => {
        await tx.collection(balancerRecords).update(id, (state) => ({ ...state, deleting: true }))
        await actions.record(subject('destroy', { id }), tx)
        if (settings.type !== 'GLOBAL') await stirGlobal(tx, id)
      })
    })

    on(loadBalancers.deleteCache, async ({ path }) => {
      const { id, settings } = await find(path.id)
      if (settings.type !== 'GLOBAL') {
        throw ApiError.invalid('Only load balancers of type GLOBAL have a cache.')
      }
      await engine.purge(id)
    })

    on(loadBalancers.addDroplets, async ({ path, body }) => {
      await change(path.id, (settings) => {
        refuseTagged(settings)
        return {
          ...settings,
          droplet_ids: [...new Set([...settings.droplet_ids, ...body.droplet_ids])],
        }
      })
    })

    on(loadBalancers.removeDroplets, async ({ path, body }) => {
      await change(path.id, (settings) => {
        refuseTagged(settings)
        const droplet_ids = settings.droplet_ids.filter((id) => !body.droplet_ids.includes(id))
        return { ...settings, droplet_ids }
      })
    })

    on(loadBalancers.addRules, async ({ path, body }) => {
      await change(path.id, (settings) => ({
        ...settings,
        forwarding_rules: checkedRules([...settings.forwarding_rules, ...body.forwarding_rules]),
      }))
    })

    on(loadBalancers.removeRules, async ({ path, body }) => {
      await change(path.id, (settings) => ({
        ...settings,
        forwarding_rules: without(settings, body.forwarding_rules),
      }))
    })

    kernel.reconcile(balancerRecords, async (state) => {
      if (state.deleting) {
        await engine.remove(state.id)
        await inside.left(state.id)
        return { remove: true }
      }
      try {
        const applied = await engine.put(
          await inside.reached(await specOf(store, await vault(), state)),
        )
        if (state.settings.type !== 'GLOBAL') await stirGlobal(store, state.id)
        return applied.enforced
          ? { change: activated }
          : { change: (now) => failed(now, applied.reason), again: retry }
      } catch (error) {
        const problem = messageOf(error)
        if (error instanceof NotYet)
          return { change: (now) => ({ ...now, problem }), again: waiting }
        // A global one that cannot be made must not hold on to what it was made of.
        if (state.settings.type === 'GLOBAL') await engine.remove(state.id)
        return { change: (now) => failed(now, problem), again: retry }
      }
    })

    startEngine(kernel, { engine, vault, inside })
  }

const subject = (type: string, { id }: { id: string }) => ({
  type,
  resource_type: 'load_balancer',
  resource_id: id,
})

const activated = ({ problem: _solved, ...state }: BalancerState): BalancerState => ({
  ...state,
  status: 'active',
})

const failed = (state: BalancerState, problem: string): BalancerState => ({
  ...state,
  status: 'errored',
  problem,
})

/** Whoever stands before this balancer counts its targets. */
const stirGlobal = (store: Store, id: string): Promise<void> =>
  stir(store, ({ settings }) => settings.target_load_balancer_ids.includes(id))

/** All balancers are there before the first is changed: a reload must not forget one. */
const startEngine = (kernel: Kernel, { engine, vault, inside }: BalancerDrivers): void => {
  const { store } = kernel
  kernel.onStart(async () => {
    const states = await store.collection(balancerRecords).list({ where: { deleting: false } })
    if (states.length === 0) return
    const key = await vault()
    const specs = await Promise.all(
      states.map((state) =>
        // One that cannot be made now is made, or called errored, by its own reconciliation.
        specOf(store, key, state)
          .then(inside.reached)
          .catch(() => undefined),
      ),
    )
    await engine.start(specs.flatMap((spec) => spec ?? []))
  })
  kernel.onStop(() => engine.stop())
}
