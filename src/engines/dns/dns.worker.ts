import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '#core/error.ts'
import { type Listener, type ListenOptions, listen } from './listen.ts'
import type { NameChange, Zone } from './zone.ts'
import { Zones } from './zones.ts'

/** What the server's thread is told; each is confirmed with its number. */
export type Order = { id: number } & (
  | { kind: 'put'; zones: Zone[] }
  | { kind: 'change'; change: NameChange }
  | { kind: 'remove'; zone: string }
  /** Begin to answer: all zones are there. */
  | { kind: 'listen' }
  | { kind: 'count' }
)

export type Confirmation = { id: number; value?: number; problem?: string }

/** The DNS server lives in a thread of its own, so that nothing else delays an answer. */
const zones = new Zones()
const options = workerData as ListenOptions
let listener: Listener | undefined

const carryOut = async (order: Order): Promise<number | undefined> => {
  switch (order.kind) {
    case 'put':
      for (const zone of order.zones) zones.put(zone)
      return undefined
    case 'change':
      zones.change(order.change)
      return undefined
    case 'remove':
      zones.remove(order.zone)
      return undefined
    case 'listen':
      listener ??= await listen(zones, options)
      return listener.port
    case 'count':
      return listener?.answered() ?? 0
  }
}

parentPort?.on('message', async (order: Order) => {
  const done: Confirmation = { id: order.id }
  try {
    const value = await carryOut(order)
    if (value !== undefined) done.value = value
  } catch (error) {
    done.problem = messageOf(error)
  }
  parentPort?.postMessage(done)
})
