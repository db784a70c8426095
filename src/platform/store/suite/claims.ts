import { describe, expect, it } from 'vitest'

import type { Store } from '../store.ts'
import { type Zone, zone, zones } from './place.ts'

export const claims = (open: () => Promise<Store>) => {
  describe('claims', () => {
    const lease = (owner: string, now: number, limit = 10) => ({
      owner,
      now,
      until: now + 100,
      limit,
    })

    it('go to one owner until the lease ends', async () => {
      const other = await open()
      const table = other.collection(zones)
      const heard: string[] = []
      other.onDue((name) => heard.push(name))
      for (const name of ['a', 'b', 'c']) await table.put(zone(name))
      expect(heard).toEqual(['zones', 'zones', 'zones'])
      expect(await table.nextDue()).toBe(0)
      expect((await table.claim(lease('one', 1000, 2))).map((c) => c.key).sort()).toEqual([
        'a',
        'b',
      ])
      expect((await table.claim(lease('two', 1000))).map((c) => c.key)).toEqual(['c'])
      expect(await table.claim(lease('two', 1099))).toEqual([])
      expect(await table.nextDue()).toBe(1100)
      expect((await table.claim(lease('two', 1100, 1))).length).toBe(1)
    })

    it('settle: done, later, failed, removed', async () => {
      const table = (await open()).collection(zones)
      await table.put(zone('a'))
      const claim = async (now: number) => {
        const [one] = await table.claim(lease(`at ${now}`, now))
        if (!one) throw new Error('nothing due')
        return one
      }
      expect(await table.standing('a')).toEqual({ due: 0, attempts: 0 })
      const failed = { kind: 'failed', problem: 'No power.', due: 50 } as const
      expect(await table.settle(await claim(1), failed)).toBe(true)
      expect(await table.standing('a')).toEqual({ due: 50, attempts: 1, problem: 'No power.' })
      const again = await claim(50)
      expect(again.attempts).toBe(1)
      const later = { kind: 'done', change: (z: Zone) => ({ ...z, text: 'up' }), due: 70 } as const
      expect(await table.settle(again, later)).toBe(true)
      expect(await table.require('a')).toEqual({ ...zone('a'), text: 'up' })
      expect(await table.standing('a')).toEqual({ due: 70, attempts: 0 })
      expect(await table.settle(await claim(70), { kind: 'done' })).toBe(true)
      expect(await table.standing('a')).toEqual({ attempts: 0 })
      expect(await table.nextDue()).toBeUndefined()
      await table.update('a', (z) => ({ ...z, text: 'away' }))
      expect(await table.settle(await claim(80), { kind: 'remove' })).toBe(true)
      expect(await table.standing('a')).toBeUndefined()
    })

    it('do not write over a write, nor after the lease is lost', async () => {
      const table = (await open()).collection(zones)
      await table.put(zone('a'))
      const [stale] = await table.claim(lease('one', 0))
      if (!stale) throw new Error('nothing due')
      await table.update('a', (z) => ({ ...z, ttl: 9 }))
      expect(await table.claim(lease('two', 50))).toEqual([])
      const change = (z: Zone) => ({ ...z, text: 'old' })
      expect(await table.settle(stale, { kind: 'done', change })).toBe(false)
      expect(await table.standing('a')).toEqual({ due: 0, attempts: 0 })
      const [lost] = await table.claim(lease('two', 50))
      if (!lost) throw new Error('nothing due')
      expect(lost.record).toEqual(zone('a', { ttl: 9 }))
      expect(await table.extend(lost, 500)).toBe(true)
      expect(await table.claim(lease('three', 499))).toEqual([])
      const [taken] = await table.claim(lease('three', 500))
      expect(taken?.key).toBe('a')
      expect(await table.extend(lost, 900)).toBe(false)
      expect(await table.settle(lost, { kind: 'remove' })).toBe(false)
      if (taken) expect(await table.extend(taken, 0)).toBe(true)
      expect(await table.claim(lease('four', 501))).toHaveLength(1)
    })

    it('never give one record to two', async () => {
      const table = (await open()).collection(zones)
      for (let n = 0; n < 40; n++) await table.put(zone(`n${n}`))
      const owners = Array.from({ length: 8 }, (_, n) => table.claim(lease(`o${n}`, 1, 5)))
      const keys = (await Promise.all(owners)).flat().map((claim) => claim.key)
      expect(new Set(keys).size).toBe(keys.length)
      expect(keys.length).toBe(40)
    })
  })
}
