import type { Collection } from '#core/collection.ts'
import type { Spec } from './column.ts'
import type { Driver } from './driver.ts'
import { layOut, shapeOf } from './layout.ts'
import type { Store } from './store.ts'
import { tableOf } from './table.ts'

interface Shared {
  /** The shape in which a collection was first declared, by name. */
  readonly shapes: Map<string, string>
  /** Collections whose tables are as declared, or are being made so. */
  readonly laidOut: Map<string, Promise<void> | 'done'>
  readonly listeners: Set<(collection: string) => void>
}

/** A store over a driver. */
export const storeOver = (db: Driver): Store =>
  storeOf(db, { shapes: new Map(), laidOut: new Map(), listeners: new Set() })

const storeOf = (db: Driver, shared: Shared): Store => {
  const announce = (name: string) => {
    for (const listener of shared.listeners) listener(name)
  }
  return {
    collection<T extends object>(spec: Collection<T>) {
      declare(shared, spec)
      return tableOf<T>(spec, {
        db,
        ready: () => ready(db, shared, spec),
        due: () => announce(spec.name),
      })
    },
    async transaction(work) {
      /** What happens inside counts outside once it is certain. */
      let inside = within(shared)
      const due = new Set<string>()
      const result = await db.transaction((tx) => {
        due.clear()
        inside = within(shared)
        inside.listeners.add((name) => due.add(name))
        return work(storeOf(tx, inside))
      })
      for (const [name, state] of inside.laidOut) shared.laidOut.set(name, state)
      due.forEach(announce)
      return result
    },
    nextId: (sequence) => db.nextId(sequence),
    shared: db.shared,
    onDue(listener) {
      shared.listeners.add(listener)
      return () => shared.listeners.delete(listener)
    },
    close: () => db.close(),
  }
}

/** A transaction does not wait for tables that are laid out beside it: they may wait for it. */
const within = ({ shapes, laidOut }: Shared): Shared => ({
  shapes,
  laidOut: new Map([...laidOut].filter(([, state]) => state === 'done')),
  listeners: new Set(),
})

const ready = (db: Driver, { laidOut }: Shared, spec: Spec): Promise<void> | undefined => {
  const state = laidOut.get(spec.name)
  if (state) return state === 'done' ? undefined : state
  const pending = layOut(db, spec).then(
    () => void laidOut.set(spec.name, 'done'),
    (error) => {
      laidOut.delete(spec.name)
      throw error
    },
  )
  laidOut.set(spec.name, pending)
  return pending
}

const names = /^(?!cove_)[a-z][a-z0-9_]{0,29}$/

const declare = ({ shapes }: Shared, spec: Spec) => {
  if (!names.test(spec.name))
    throw new Error(`A collection cannot be named ${spec.name}: use up to 30 of a-z, 0-9 and _.`)
  const known = shapes.get(spec.name) ?? shapeOf(spec)
  if (known !== shapeOf(spec))
    throw new Error(`The collection ${spec.name} is declared twice: ${known} and ${shapeOf(spec)}.`)
  shapes.set(spec.name, known)
}
