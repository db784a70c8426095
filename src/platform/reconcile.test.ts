import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collection } from '#core/collection.ts'
import { testClock } from '../../test/clock.ts'
import { startPostgres } from '../../test/postgres.ts'
import { createReconciler, type Reconcile, type Reconciler } from './reconcile.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/store.ts'

interface Lamp {
  name: string
  wanted: 'on' | 'off' | 'gone'
  is?: string
}

const lamps = collection<Lamp>('lamps', { called: 'Lamp', key: 'name', reconciled: true })

const light: Reconcile<Lamp> = async (lamp) =>
  lamp.wanted === 'gone' ? { remove: true } : { change: (now) => ({ ...now, is: lamp.wanted }) }

/** Something a test waits for. */
const moment = () => {
  let come = () => {}
  const came = new Promise<void>((resolve) => {
    come = resolve
  })
  return { come, came }
}

/** Lets everything that can happen without time happen. */
const breathe = async () => {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
}

describe('the reconciler', () => {
  let store: Store
  let log: string[]
  const clock = testClock()
  const made: Reconciler[] = []
  const reconciler = (owner = 'me', on = store, alone = false) => {
    const one = createReconciler({
      alone,
      store: on,
      clock,
      owner,
      log: (line) => log.push(line),
      random: () => 1,
    })
    made.push(one)
    return one
  }
  beforeEach(async () => {
    log = []
    store = await openStore(':memory:')
  })
  afterEach(async () => {
    await Promise.all(made.splice(0).map((one) => one.stop()))
    await store.close()
  })

  it('brings about what records ask for, as they are written', async () => {
    const table = store.collection(lamps)
    const loop = reconciler()
    loop.add(lamps, light)
    loop.start()
    await table.insert({ name: 'hall', wanted: 'on' })
    await breathe()
    expect(await table.get('hall')).toEqual({ name: 'hall', wanted: 'on', is: 'on' })
    expect(await table.standing('hall')).toEqual({ attempts: 0 })
    await table.update('hall', (lamp) => ({ ...lamp, wanted: 'gone' }))
    await breathe()
    expect(await table.get('hall')).toBeUndefined()
  })

  it('keeps the reason of a failure, waits longer each time, and recovers', async () => {
    const table = store.collection(lamps)
    const loop = reconciler()
    let broken = true
    const tried: number[] = []
    loop.add(lamps, async (lamp, context) => {
      tried.push(context.attempts)
      if (broken) throw new Error('The bulb is broken.')
      return light(lamp, context)
    })
    await table.insert({ name: 'hall', wanted: 'on' })
    const waits: number[] = []
    for (let n = 0; n < 10; n++) {
      await loop.settle()
      const { due, problem } = (await table.standing('hall')) ?? {}
      expect(problem).toBe('The bulb is broken.')
      waits.push((due ?? 0) - clock.now())
      clock.advance(waits.at(-1) ?? 0)
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    expect(tried).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(log[0]).toBe('Lamp hall: The bulb is broken. (next try in 0.5 s)')
    broken = false
    await loop.settle()
    expect(await table.require('hall')).toMatchObject({ is: 'on' })
    expect(await table.standing('hall')).toEqual({ attempts: 0 })
  })

  it('keeps the reason when the outcome cannot be written', async () => {
    const table = store.collection(lamps)
    const loop = reconciler()
    loop.add(lamps, async () => ({ change: (lamp) => ({ ...lamp, name: 'other' }) }))
    await table.insert({ name: 'hall', wanted: 'on' })
    await loop.settle()
    expect((await table.standing('hall'))?.problem).toBe(
      'Lamp hall cannot change its name to other.',
    )
  })

  it('looks again when asked, and sleeps until then', async () => {
    const table = store.collection(lamps)
    const loop = reconciler()
    let looks = 0
    loop.add(lamps, async () => ({ again: ++looks < 3 ? 1000 : undefined }))
    await table.insert({ name: 'hall', wanted: 'on' })
    loop.start()
    await breathe()
    expect(looks).toBe(1)
    clock.advance(999)
    await breathe()
    expect(looks).toBe(1)
    clock.advance(1)
    await breathe()
    expect(looks).toBe(2)
    clock.advance(1000)
    await breathe()
    clock.advance(3_600_000)
    await breathe()
    expect(looks).toBe(3)
  })

  it('does it again when the record was written meanwhile', async () => {
    const table = store.collection(lamps)
    const loop = reconciler()
    const [begun, written] = [moment(), moment()]
    const seen: string[] = []
    loop.add(lamps, async (lamp, context) => {
      seen.push(lamp.wanted)
      begun.come()
      await written.came
      return light(lamp, context)
    })
    loop.start()
    await table.insert({ name: 'hall', wanted: 'on' })
    await begun.came
    await table.update('hall', (lamp) => ({ ...lamp, wanted: 'off' }))
    written.come()
    await breathe()
    expect(seen).toEqual(['on', 'off'])
    expect(await table.get('hall')).toEqual({ name: 'hall', wanted: 'off', is: 'off' })
  })

  it('runs kinds side by side, and no more of a kind than allowed', async () => {
    const fans = collection<Lamp>('fans', { called: 'Fan', key: 'name', reconciled: true })
    const loop = reconciler()
    const gate = moment()
    const at = { lamps: 0, fans: 0, most: 0 }
    loop.add(
      lamps,
      async () => {
        at.most = Math.max(at.most, ++at.lamps)
        await gate.came
        at.lamps--
        return {}
      },
      { parallel: 2 },
    )
    loop.add(fans, async () => {
      at.fans++
      return {}
    })
    loop.start()
    for (let n = 0; n < 7; n++) {
      await store.collection(lamps).insert({ name: `lamp${n}`, wanted: 'on' })
      await store.collection(fans).insert({ name: `fan${n}`, wanted: 'on' })
    }
    await breathe()
    expect(at).toEqual({ lamps: 2, fans: 7, most: 2 })
    gate.come()
    await loop.settle()
    expect(at).toEqual({ lamps: 0, fans: 7, most: 2 })
    expect(await store.collection(lamps).nextDue()).toBeUndefined()
  })

  it('stops: steps are aborted and waited for, and are nobody’s failure', async () => {
    const table = store.collection(lamps)
    const loop = reconciler()
    const begun = moment()
    loop.add(lamps, async (_, { signal }) => {
      begun.come()
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
      return {}
    })
    loop.start()
    await table.insert({ name: 'hall', wanted: 'on' })
    await begun.came
    await loop.stop()
    expect(await table.standing('hall')).toEqual({ due: 0, attempts: 0 })
    expect(await table.nextDue()).toBe(0)
  })

  describe('after a crash', () => {
    /** A process that claims and is never heard of again. */
    const crash = (on: Store) => {
      const now = clock.now()
      return on.collection(lamps).claim({ owner: 'dead', now, until: now + 15_000, limit: 9 })
    }

    it('takes over once the lease ends', async () => {
      const table = store.collection(lamps)
      await table.insert({ name: 'hall', wanted: 'on' })
      await crash(store)
      const loop = reconciler()
      loop.add(lamps, light)
      loop.start()
      clock.advance(14_999)
      await breathe()
      expect(await table.require('hall')).not.toHaveProperty('is')
      clock.advance(1)
      await breathe()
      expect(await table.require('hall')).toMatchObject({ is: 'on' })
    })

    it('goes on at once when it is alone', async () => {
      const table = store.collection(lamps)
      await table.insert({ name: 'hall', wanted: 'on' })
      await crash(store)
      const loop = reconciler('me', store, true)
      loop.add(lamps, light)
      loop.start()
      await breathe()
      expect(await table.require('hall')).toMatchObject({ is: 'on' })
    })

    it('keeps a long step for itself, and drops it when it was lost', async () => {
      const table = store.collection(lamps)
      await table.insert({ name: 'hall', wanted: 'on' })
      const [begun, end] = [moment(), moment()]
      const signals: AbortSignal[] = []
      const slow = reconciler('slow')
      slow.add(lamps, async (_, { signal }) => {
        signals.push(signal)
        begun.come()
        await end.came
        return { change: (lamp) => ({ ...lamp, is: 'late' }) }
      })
      slow.start()
      await begun.came
      for (let n = 0; n < 10; n++) {
        clock.advance(5000)
        await breathe()
      }
      const other = { owner: 'other', now: clock.now(), until: clock.now() + 60_000, limit: 1 }
      expect(await table.claim(other)).toEqual([])
      const afterPause = clock.now() + 60_000
      const [stolen] = await table.claim({ ...other, now: afterPause, until: afterPause + 60_000 })
      expect(stolen?.key).toBe('hall')
      clock.advance(5000)
      await breathe()
      expect(signals[0]?.aborted).toBe(true)
      end.come()
      await breathe()
      expect(await table.require('hall')).not.toHaveProperty('is')
    })

    it('takes over from another process on one PostgreSQL, and shares the work', async () => {
      const server = await startPostgres()
      const url = await server.createDatabase('cove')
      const [one, two] = [
        await openStore('unused', { databaseUrl: url }),
        await openStore('unused', { databaseUrl: url }),
      ]
      await one.collection(lamps).insert({ name: 'left', wanted: 'on' })
      await crash(one)
      for (let n = 0; n < 30; n++)
        await one.collection(lamps).insert({ name: `lamp${n}`, wanted: 'on' })
      const done: string[] = []
      const loops = [one, two].map((on, n) => {
        const loop = reconciler(`process ${n}`, on)
        loop.add(lamps, async (lamp, context) => {
          done.push(lamp.name)
          return light(lamp, context)
        })
        return loop
      })
      const settle = () => Promise.all(loops.map((loop) => loop.settle()))
      await settle()
      expect(done.length).toBe(30)
      expect(new Set(done).size).toBe(30)
      clock.advance(15_000)
      await settle()
      expect(done.at(-1)).toBe('left')
      expect(await two.collection(lamps).require('left')).toMatchObject({ is: 'on' })
      await Promise.all([one.close(), two.close()])
      await server.stop()
    })
  })
})
